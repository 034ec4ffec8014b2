package io.github.lockboot.sample.live;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.github.lockboot.sample.BadParameterException;
import io.github.lockboot.sample.NeedsLocks;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Size;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/loads/{scenario}")
@NeedsLocks
class LoadController {

    private final Loads loads;
    private final List<Scenario> scenarios;

    LoadController(Loads loads, List<Scenario> scenarios) {
        this.loads = loads;
        this.scenarios = scenarios;
    }

    @PostMapping
    @ResponseStatus(HttpStatus.ACCEPTED)
    void start(
            @PathVariable @Size(max = 64, message = "must have at most 64 characters") String scenario,
            @RequestParam(required = false) @Nullable String mode,
            @RequestParam(defaultValue = "10")
                    @Min(value = 1, message = "must be at least 1")
                    @Max(value = 60, message = "must be at most 60")
                    int seconds) {
        Scenario found = find(scenario);
        loads.start(found, modeOf(found, mode), Duration.ofSeconds(seconds));
    }

    @DeleteMapping
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void stop(@PathVariable @Size(max = 64, message = "must have at most 64 characters") String scenario) {
        loads.stop(find(scenario));
    }

    @GetMapping
    Map<String, Boolean> get(
            @PathVariable @Size(max = 64, message = "must have at most 64 characters") String scenario) {
        return Map.of("running", loads.isRunning(find(scenario)));
    }

    private Scenario find(String name) {
        return scenarios.stream()
                .filter(scenario -> scenario.name().equals(name))
                .findAny()
                .orElseThrow(() -> new UnknownScenarioException(name));
    }

    private static String modeOf(Scenario scenario, @Nullable String mode) {
        List<String> modes = scenario.modes();
        if (mode == null) {
            return modes.isEmpty() ? "" : modes.get(0);
        }
        if (!modes.contains(mode)) {
            throw new BadParameterException(
                    "mode", modes.isEmpty() ? "must not be given here" : "must be one of " + String.join(", ", modes));
        }
        return mode;
    }
}
