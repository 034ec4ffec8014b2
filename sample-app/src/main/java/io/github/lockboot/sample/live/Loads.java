package io.github.lockboot.sample.live;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.github.lockboot.LockException;
import io.github.lockboot.sample.NeedsLocks;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.core.HashOperations;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

/**
 * Runs loads in every instance. The instance that receives the request writes an order into Redis. Every instance looks for orders
 * a few times a second and starts its workers.
 */
@Component
@NeedsLocks
class Loads implements DisposableBean {

    private static final Logger log = LoggerFactory.getLogger(Loads.class);
    private static final String KEY = "sample:loads";

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

    Loads(StringRedisTemplate redis, Instances instances) {
        this.redis = redis;
        this.orders = redis.opsForHash();
        this.instances = instances;
    }

    /** @throws LoadRunningException if this scenario is under load already */
    void start(Scenario scenario, String mode, Duration duration) {
        if (isRunning(scenario)) {
            throw new LoadRunningException(scenario.name());
        }
        LoadOrder order = new LoadOrder(
                UUID.randomUUID().toString(),
                instances.name(),
                mode,
                duration,
                Instant.now().plus(duration),
                instances.all().size());
        orders.delete(KEY, scenario.name());
        scenario.prepare(new Load(order, true));
        if (!orders.putIfAbsent(KEY, scenario.name(), order.text())) {
            throw new LoadRunningException(scenario.name());
        }
        redis.expire(KEY, Duration.ofDays(1));
    }

    void stop(Scenario scenario) {
        orders.delete(KEY, scenario.name());
    }

    /** True until its time is over and every worker of every instance has ended. */
    boolean isRunning(Scenario scenario) {
        String text = orders.get(KEY, scenario.name());
        return text != null && !LoadOrder.parse(text).isOver()
                || instances.all().stream().anyMatch(instance -> instance.isWorkingOn(scenario.name()));
    }

    /** Starts loads that are ordered, and stops those that no longer are. Called by one thread. */
    void follow(Iterable<Scenario> scenarios) {
        Map<String, String> ordered = orders.entries(KEY);
        for (Scenario scenario : scenarios) {
            String text = ordered.get(scenario.name());
            Load load = running.get(scenario.name());
            if (text == null) {
                if (load != null) {
                    load.stop();
                }
                continue;
            }
            LoadOrder order = LoadOrder.parse(text);
            if (load == null && !order.isOver() && !order.id().equals(started.get(scenario.name()))) {
                started.put(scenario.name(), order.id());
                run(scenario, new Load(order, order.leader().equals(instances.name())));
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
