package io.github.lockboot.sample.live;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import org.springframework.stereotype.Component;

import static java.util.Objects.requireNonNull;

/** How many threads of this instance wait for locks, and how long they waited. */
@Component
public class Waits {

    private static final String KEY = "sample:waits";
    private static final int MOST = 500;

    private final EventLog events;
    private final Map<String, AtomicInteger> waiting = new ConcurrentHashMap<>();
    private final Map<String, ConcurrentLinkedQueue<Double>> waited = new ConcurrentHashMap<>();

    Waits(EventLog events) {
        this.events = events;
    }

    /** Runs work that waits for a lock, and measures its time. */
    public <T, E extends Throwable> T during(String scenario, Work<T, E> work) throws E {
        Wait wait = begin(scenario);
        try {
            return work.run();
        } finally {
            wait.end();
        }
    }

    /** Begins a wait for a lock. */
    public Wait begin(String scenario) {
        waiting.computeIfAbsent(scenario, name -> new AtomicInteger()).incrementAndGet();
        return new Wait(scenario);
    }

    /** The threads that wait now, by scenario. */
    Map<String, Integer> waiting() {
        Map<String, Integer> now = new HashMap<>();
        waiting.forEach((scenario, threads) -> now.put(scenario, threads.get()));
        return now;
    }

    /** Writes a summary of the waits that ended since the last call, for each scenario, into a stream in Redis. */
    void publish() {
        waited.forEach((scenario, waits) -> {
            List<Double> millis = new ArrayList<>();
            for (Double wait = waits.poll(); wait != null; wait = waits.poll()) {
                millis.add(wait);
            }
            if (!millis.isEmpty()) {
                Collections.sort(millis);
                events.add(
                        KEY,
                        "wait",
                        Map.of(
                                "scenario", scenario,
                                "median", String.valueOf(millis.get(millis.size() / 2)),
                                "longest", String.valueOf(millis.get(millis.size() - 1))));
            }
        });
    }

    /** The summaries of all instances since the given time before now. */
    List<Map<String, String>> since(Duration ago) {
        long from = System.currentTimeMillis() - ago.toMillis();
        return events.newest(KEY, MOST).stream()
                .filter(wait -> Long.parseLong(wait.get("at")) > from)
                .toList();
    }

    /** A wait of one thread. */
    public final class Wait {

        private final String scenario;
        private final long start = System.nanoTime();
        private boolean ended;

        private Wait(String scenario) {
            this.scenario = scenario;
        }

        /** Measures it; later calls do nothing. */
        public void end() {
            if (!ended) {
                ended = true;
                requireNonNull(waiting.get(scenario)).decrementAndGet();
                waited.computeIfAbsent(scenario, name -> new ConcurrentLinkedQueue<>())
                        .add((System.nanoTime() - start) / 1e6);
            }
        }
    }
}
