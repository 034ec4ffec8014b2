package io.github.lockboot.sample.live;

import java.time.Duration;
import java.util.List;

import io.github.lockboot.sample.NeedsLocks;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

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

    /** @param mode one of the scenario's; by default its first */
    @PostMapping
    @ResponseStatus(HttpStatus.ACCEPTED)
    void start(
            @PathVariable String scenario,
            @RequestParam(required = false) String mode,
            @RequestParam(defaultValue = "10") @Min(2) @Max(60) int seconds) {
        Scenario found = find(scenario);
        List<String> modes = found.modes();
        if (mode != null && !modes.contains(mode)) {
            throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "'mode' must be one of " + modes);
        }
        String chosen = mode != null ? mode : modes.isEmpty() ? "" : modes.get(0);
        loads.start(found, chosen, Duration.ofSeconds(seconds));
    }

    @DeleteMapping
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void stop(@PathVariable String scenario) {
        loads.stop(find(scenario));
    }

    private Scenario find(String name) {
        return scenarios.stream()
                .filter(scenario -> scenario.name().equals(name))
                .findAny()
                .orElseThrow(() ->
                        new ResponseStatusException(HttpStatus.NOT_FOUND, "There is no scenario '" + name + "'."));
    }
}
