package io.github.lockboot.sample.live;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import org.springframework.stereotype.Component;

/** How many threads of this instance wait for locks, and how long they waited. */
@Component
public class Waits {

    private final Map<String, AtomicInteger> waiting = new ConcurrentHashMap<>();
    private final Map<String, ConcurrentLinkedQueue<Double>> waited = new ConcurrentHashMap<>();

    /** Runs an action that waits for a lock, and measures its time. */
    public <T, E extends Throwable> T during(String scenario, Wait<T, E> wait) throws E {
        AtomicInteger now = waiting.computeIfAbsent(scenario, name -> new AtomicInteger());
        long start = System.nanoTime();
        now.incrementAndGet();
        try {
            return wait.run();
        } finally {
            now.decrementAndGet();
            waited.computeIfAbsent(scenario, name -> new ConcurrentLinkedQueue<>())
                    .add((System.nanoTime() - start) / 1e6);
        }
    }

    /** The threads that wait now, by scenario. */
    Map<String, Integer> waiting() {
        Map<String, Integer> now = new HashMap<>();
        waiting.forEach((scenario, threads) -> now.put(scenario, threads.get()));
        return now;
    }

    /** The waits that ended since the last call, by scenario; none where there were none. */
    Map<String, Summary> drain() {
        Map<String, Summary> summaries = new HashMap<>();
        waited.forEach((scenario, waits) -> {
            double[] millis = new double[waits.size()];
            int count = 0;
            for (Double wait; count < millis.length && (wait = waits.poll()) != null; count++) {
                millis[count] = wait;
            }
            if (count > 0) {
                Arrays.sort(millis, 0, count);
                summaries.put(scenario, new Summary(count, millis[count / 2], millis[count - 1]));
            }
        });
        return summaries;
    }

    /** In milliseconds. */
    record Summary(int count, double median, double longest) {}

    /**
     * @param <T> what it returns
     * @param <E> what it throws
     */
    @FunctionalInterface
    public interface Wait<T, E extends Throwable> {

        T run() throws E;
    }
}
