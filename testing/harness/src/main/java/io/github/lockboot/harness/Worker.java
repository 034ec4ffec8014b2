package io.github.lockboot.harness;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;

/**
 * One application instance, as a {@link WorkerProcess} runs it: it connects, says so, and does what each line on its
 * standard input orders. It ends with its standard input, or with a failure, which it says.
 */
public final class Worker {

    /** The line that says that it has connected. */
    public static final String READY = "ready";

    /** The beginning of the line that says why it ends. */
    public static final String FAILED = "failed ";

    private static final Duration CONNECTS_WITHIN = Duration.ofSeconds(110);
    private static final int LONGEST_REASON = 160;

    private Worker() {}

    /** What a worker is there for. */
    public interface Role {

        /** Does what one line of its input says. */
        void perform(String order) throws Exception;
    }

    /**
     * Runs one; does not return.
     *
     * @param roleWith what it does once it has connected
     */
    public static void run(Contender contender, RedisAddress redis, Function<Contender.Client, Role> roleWith) {
        run(contender, redis, false, roleWith);
    }

    /** @param cold whether to begin without having taken a lock */
    public static void run(
            Contender contender, RedisAddress redis, boolean cold, Function<Contender.Client, Role> roleWith) {
        System.setErr(System.out); // so that the lines of both stay whole
        try {
            Contender.Client client = contender.connect(redis);
            if (!cold) {
                lockOnce(client);
            }
            Role role = roleWith.apply(client);
            System.out.println(READY);
            BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String order = orders.readLine(); order != null; order = orders.readLine()) {
                role.perform(order);
            }
        } catch (Throwable failure) {
            System.out.println(FAILED + reason(failure));
        }
        Runtime.getRuntime().halt(0);
    }

    /** Connecting for the first time loads classes, which on a busy machine takes longer than a command may. */
    private static void lockOnce(Contender.Client client) {
        Lock lock = client.lock("connecting-" + ProcessHandle.current().pid());
        long end = System.nanoTime() + CONNECTS_WITHIN.toNanos();
        while (true) {
            try {
                lock.lock();
                lock.unlock();
                return;
            } catch (RuntimeException notYet) {
                if (System.nanoTime() - end > 0) {
                    throw notYet;
                }
            }
        }
    }

    /** On one line: the first of what its root says. */
    private static String reason(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        String text = root.toString().lines().findFirst().orElse("");
        return text.substring(0, Math.min(text.length(), LONGEST_REASON));
    }
}
