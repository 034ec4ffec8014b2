package io.github.lockboot.benchmarks;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;

import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.harness.Markdown;

/**
 * What Redis pays for the queue of one lock: its processor time for a poll and for a release with 10, 100 and 1,000
 * waiting ids, each as of an instance of its own. The ids are put into the queue by the scripts; no instance runs. See
 * README.md.
 */
public final class QueueCost {

    private static final int[] WAITERS = {10, 100, 300, 1_000};
    private static final int ROUNDS = 5;
    private static final int CALLS = 2_000;
    private static final String POLL = "2000";
    private static final String QUEUED = "QUEUED";
    private static final double POLLS_A_SECOND = 0.5;

    private final RedisProbe redis;
    private final ScriptCalls scripts;
    private final Random random = new Random(1);

    private QueueCost(RedisProbe redis) {
        this.redis = redis;
        this.scripts = new ScriptCalls(redis);
    }

    /** Prints a table. */
    public static void main(String[] args) {
        try (RedisServer server = RedisServer.start();
                RedisProbe redis = server.probe()) {
            System.out.println(
                    "Redis " + server.version() + ", medians of " + ROUNDS + " rounds of " + CALLS + " calls\n");
            System.out.println(new QueueCost(redis).table());
        }
    }

    /** One lock that is held, and waited for. */
    private final class Queue {

        final String key;
        final Deque<String> ids = new ArrayDeque<>(); // the holder first
        final List<Double> polls = new ArrayList<>();
        final List<Double> releases = new ArrayList<>();
        final List<Double> refused = new ArrayList<>();

        Queue(int waiters) {
            this.key = "lock:queue-of-" + waiters;
            for (int i = 0; i <= waiters; i++) {
                ids.add(id());
                scripts.acquire(key, ids.getLast(), POLL);
            }
        }

        /** Ends the hold, and queues the next id of the same instance. */
        private String passOn() {
            String next = id();
            ids.add(next);
            return scripts.unlock(key, ids.remove(), POLL, next);
        }

        void measure() {
            List<String> all = List.copyOf(ids);
            Supplier<String> any = () -> all.get(1 + random.nextInt(all.size() - 1));
            polls.add(cost(QUEUED, () -> scripts.acquire(key, any.get(), POLL)));
            refused.add(cost("BUSY", () -> scripts.acquire(key, id(), POLL, all.size() - 1)));
            releases.add(cost(QUEUED, this::passOn));
            scripts.acquire(key, ids.getFirst(), POLL); // the lease of a hand-over is short
        }

        long bytes() {
            return String.valueOf(redis.command("GET", key)).length();
        }
    }

    private static String id() {
        return ScriptCalls.id(ScriptCalls.session());
    }

    /** In microseconds of Redis for each call; every call has to have this answer. */
    private double cost(String status, Supplier<String> call) {
        double before = ScriptCalls.processorSeconds(redis);
        for (int i = 0; i < CALLS; i++) {
            String reply = call.get();
            if (!reply.contains(" " + status + " ")) {
                throw new IllegalStateException(reply);
            }
        }
        return (ScriptCalls.processorSeconds(redis) - before) * 1e6 / CALLS;
    }

    private String table() {
        Map<Integer, Queue> queues = new LinkedHashMap<>();
        for (int waiters : WAITERS) {
            queues.put(waiters, new Queue(waiters));
        }
        for (int round = 0; round < ROUNDS; round++) {
            queues.values().forEach(Queue::measure);
        }
        StringBuilder text = new StringBuilder(
                "| waiting instances | a poll, µs | a release, µs | a poll beside a full queue, µs | all polls, cores in % | written, MB/s |\n"
                        + "|---:|---:|---:|---:|---:|---:|\n");
        queues.forEach((waiters, queue) -> {
            double polls = POLLS_A_SECOND * waiters;
            double micros = polls * median(queue.polls);
            text.append(Markdown.row(
                    String.format(Locale.ROOT, "%,d", waiters),
                    number("%,.0f", median(queue.polls)),
                    number("%,.0f", median(queue.releases)),
                    number("%,.0f", median(queue.refused)),
                    number("%.2f", micros / 1e4),
                    number("%.2f", polls * queue.bytes() / 1e6)));
        });
        return text.toString();
    }

    private static String number(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }

    private static double median(List<Double> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }
}
