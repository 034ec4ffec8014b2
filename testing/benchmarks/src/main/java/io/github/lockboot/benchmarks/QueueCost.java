package io.github.lockboot.benchmarks;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;

import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.harness.Markdown;
import io.github.lockboot.redis.protocol.LuaScript;

/**
 * What Redis pays for the queue of one lock: its processor time for a poll and for a release with 10, 100 and 1,000 waiting ids, each as
 * of an instance of its own. The ids are put into the queue by the scripts; no instance runs. See README.md.
 */
public final class QueueCost {

    private static final int[] WAITERS = {10, 100, 300, 1_000};
    private static final int ROUNDS = 5;
    private static final int CALLS = 2_000;
    private static final String TTL = "600000";
    private static final String POLL = "2000";
    private static final double POLLS_A_SECOND = 0.5;

    /** At each of these times a second, the next poll goes through the whole queue. */
    private static final double LOOKS_A_SECOND = 2;

    private final RedisProbe redis;
    private final Random random = new Random(1);
    private final String acquire;
    private final String unlock;
    private long number = 1_000_000_000_000L;

    private QueueCost(RedisProbe redis) {
        this.redis = redis;
        this.acquire = load(LuaScript.ACQUIRE);
        this.unlock = load(LuaScript.UNLOCK);
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

    private String load(LuaScript script) {
        return String.valueOf(redis.command("SCRIPT", "LOAD", script.getScriptAsString()));
    }

    /** One lock that is held, and waited for. */
    private final class Queue {

        final String key;
        final Deque<String> ids = new ArrayDeque<>(); // the holder first
        final List<Double> polls = new ArrayList<>();
        final List<Double> looks = new ArrayList<>();
        final List<Double> releases = new ArrayList<>();

        Queue(int waiters) {
            this.key = "lock:queue-of-" + waiters;
            for (int i = 0; i <= waiters; i++) {
                ids.add(id());
                ask(ids.getLast(), POLL);
            }
        }

        /** A poll among many others, which come every few milliseconds and leave little to look at. */
        private String ask(String id, String poll) {
            return run(acquire, key, id, poll, TTL, "0", "1", "1000000");
        }

        /** Ends the hold, and queues the next id of the same instance. */
        private String passOn() {
            String next = id();
            ids.add(next);
            return run(unlock, key, ids.remove(), POLL, "0", next, TTL, "0");
        }

        void measure() {
            List<String> all = List.copyOf(ids);
            Supplier<String> any = () -> all.get(1 + random.nextInt(all.size() - 1));
            polls.add(cost(() -> ask(any.get(), POLL)));
            looks.add(cost(() -> ask(any.get(), "0")));
            releases.add(cost(this::passOn));
            ask(ids.getFirst(), POLL); // the lease of a hand-over is short
        }

        long bytes() {
            return String.valueOf(redis.command("HGET", key, "queue")).length();
        }
    }

    private String id() {
        HexFormat hex = HexFormat.of();
        return hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextLong()) + "-" + random.nextInt(10_000)
                + "." + hex.toHexDigits(random.nextLong());
    }

    private String run(String sha, String key, String id, String poll, String... others) {
        List<String> words = new ArrayList<>(List.of("EVALSHA", sha, "1", key, id, "lock:client:", poll, "3600000"));
        words.addAll(List.of(others));
        words.add(Long.toString(number++));
        return String.valueOf(redis.command(words.toArray(String[]::new)));
    }

    /** In microseconds of Redis for each call; every call has to find the caller queued. */
    private double cost(Supplier<String> call) {
        double before = processorSeconds();
        for (int i = 0; i < CALLS; i++) {
            String reply = call.get();
            if (!reply.contains(" QUEUED ")) {
                throw new IllegalStateException(reply);
            }
        }
        return (processorSeconds() - before) * 1e6 / CALLS;
    }

    private double processorSeconds() {
        Map<String, String> cpu = redis.info("cpu");
        return Double.parseDouble(cpu.get("used_cpu_user")) + Double.parseDouble(cpu.get("used_cpu_sys"));
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
                "| waiting instances | a poll, µs | a poll that goes through the queue, µs | a release, µs | all polls, % of a core | written, MB/s |\n"
                        + "|---:|---:|---:|---:|---:|---:|\n");
        queues.forEach((waiters, queue) -> {
            double polls = POLLS_A_SECOND * waiters;
            double looks = Math.min(polls, LOOKS_A_SECOND);
            double micros = (polls - looks) * median(queue.polls) + looks * median(queue.looks);
            text.append(Markdown.row(
                    String.format(Locale.ROOT, "%,d", waiters),
                    number("%.0f", median(queue.polls)),
                    number("%.0f", median(queue.looks)),
                    number("%.0f", median(queue.releases)),
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
