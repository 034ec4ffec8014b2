package io.github.lockboot.sample.live;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.github.lockboot.LockException;
import io.github.lockboot.sample.NeedsLocks;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.core.HashOperations;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Runs loads in every instance. The instance that receives the request writes an order into Redis. Every instance looks
 * for orders a few times a second and starts its workers.
 */
@RestController
@RequestMapping("/loads/{scenario}")
@NeedsLocks
class Loads implements DisposableBean {

    private static final Logger log = LoggerFactory.getLogger(Loads.class);
    private static final String KEY = "sample:loads";

    private final List<Scenario> scenarios;
    private final StringRedisTemplate redis;
    private final HashOperations<String, String, String> orders;
    private final Instances instances;
    private final Map<String, String> started = new HashMap<>();
    private final Map<String, Load> running = new ConcurrentHashMap<>();
    private final ExecutorService workers = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "load");
        thread.setDaemon(true);
        return thread;
    });

    Loads(List<Scenario> scenarios, StringRedisTemplate redis, Instances instances) {
        this.scenarios = scenarios;
        this.redis = redis;
        this.orders = redis.opsForHash();
        this.instances = instances;
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
        Duration duration = Duration.ofSeconds(seconds);
        Load load = Load.of(
                instances.name(),
                chosen,
                duration,
                Instant.now().plus(duration),
                Math.max(1, instances.all().size()), // this one may not be shown yet
                true);
        boolean begins = false;
        if (!isRunning(scenario)) {
            orders.delete(KEY, scenario);
            found.prepare(load);
            begins = orders.putIfAbsent(KEY, scenario, load.order());
        }
        if (!begins) {
            throw new ResponseStatusException(
                    HttpStatus.CONFLICT, "'" + scenario + "' is under load already; stop it or wait for its end.");
        }
        redis.expire(KEY, Duration.ofDays(1));
    }

    @DeleteMapping
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void stop(@PathVariable String scenario) {
        orders.delete(KEY, find(scenario).name());
    }

    private Scenario find(String name) {
        return scenarios.stream()
                .filter(scenario -> scenario.name().equals(name))
                .findAny()
                .orElseThrow(() ->
                        new ResponseStatusException(HttpStatus.NOT_FOUND, "There is no scenario '" + name + "'."));
    }

    /** True until its time is over and every worker of every instance has ended. */
    boolean isRunning(String scenario) {
        String order = orders.get(KEY, scenario);
        return order != null && !Load.of(order, "").isOver()
                || instances.all().stream().anyMatch(instance -> instance.isWorkingOn(scenario));
    }

    /** Starts loads that are ordered, and stops those that no longer are. Called by one thread. */
    void follow() {
        Map<String, String> ordered = orders.entries(KEY);
        for (Scenario scenario : scenarios) {
            String order = ordered.get(scenario.name());
            Load running = this.running.get(scenario.name());
            if (order == null) {
                if (running != null) {
                    running.stop();
                }
                continue;
            }
            Load load = Load.of(order, instances.name());
            if (running == null && !load.isOver() && !order.equals(started.put(scenario.name(), order))) {
                run(scenario, load);
            }
        }
    }

    private void run(Scenario scenario, Load load) {
        running.put(scenario.name(), load);
        instances.workBegins(scenario.name(), scenario.workers());
        for (int i = 0; i < scenario.workers(); i++) {
            int worker = i;
            workers.execute(() -> {
                try {
                    work(scenario, load, worker);
                } catch (InterruptedException stopping) {
                    Thread.currentThread().interrupt();
                } finally {
                    if (instances.workEnds(scenario.name()) == 0) {
                        running.remove(scenario.name());
                    }
                }
            });
        }
    }

    private static void work(Scenario scenario, Load load, int worker) throws InterruptedException {
        boolean more = true;
        boolean finished = false;
        while (!finished) {
            try {
                if (more && !load.isOver()) {
                    more = scenario.step(load, worker);
                } else {
                    finished = true;
                    scenario.finish(load, worker);
                }
            } catch (LockException refused) {
                log.debug("A step of {} was refused", scenario.name(), refused);
            } catch (RuntimeException failure) {
                log.warn("A step of the load '{}' failed: {}", scenario.name(), failure.toString());
                load.sleep(Duration.ofSeconds(1));
            }
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }

    @Override
    public void destroy() {
        running.values().forEach(Load::stop);
        workers.shutdownNow();
    }
}
