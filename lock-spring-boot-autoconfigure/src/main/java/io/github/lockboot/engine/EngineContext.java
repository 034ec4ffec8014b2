package io.github.lockboot.engine;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.lockboot.engine.LeaseTime.Moment;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.StoreFailure.GrantedTooLateException;
import io.github.lockboot.internal.Failures;
import io.github.lockboot.internal.HeldByThread;
import io.github.lockboot.internal.OutageLog;
import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/** Provides time, threads, randomness and settings. Knows whether the registry is open, closing or closed. */
public final class EngineContext {

    private static final long NO_THREAD_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private enum Life {
        OPEN,
        CLOSING,
        CLOSED
    }

    /**
     * How a registry waits, and passes locks on.
     *
     * @param retryInterval how often a waiter asks, in case a message is lost
     * @param minRetryInterval how soon a waiter that no message can reach asks again
     * @param commandTimeout how long the store may take for an answer
     * @param localHandoffLimit how often a lock is still passed on when other registries wait
     */
    public record Settings(
            Duration retryInterval, Duration minRetryInterval, Duration commandTimeout, int localHandoffLimit) {

        /** How often a waiter asks at least, whatever its terms. */
        public Duration poll() {
            Duration longest = Duration.ofMillis(LockStore.CLAIM_LEASE_MILLIS / 3);
            return retryInterval.compareTo(longest) < 0 ? retryInterval : longest;
        }

        /** How long a waiter may be unseen before it is dropped from the queue. */
        public Duration patience() {
            Duration longer = poll().compareTo(commandTimeout) > 0 ? poll() : commandTimeout;
            return longer.multipliedBy(3);
        }
    }

    private final Settings settings;
    private final Timer timer;
    private final ExecutorService workers;
    private final DoubleSupplier random;
    private final LockLog log = new LockLog();
    private final OutageLog outage;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final Set<HeldByThread> lost = ConcurrentHashMap.newKeySet();
    private volatile boolean everUnanswered;
    private volatile Life life = Life.OPEN;

    /** @param random in [0, 1) */
    public EngineContext(Settings settings, Timer timer, ExecutorService workers, DoubleSupplier random) {
        this.settings = settings;
        this.timer = timer;
        this.workers = workers;
        this.random = random;
        this.outage = new OutageLog(timer, this::runLater);
    }

    public LockLog log() {
        return log;
    }

    boolean isOutage() {
        return outage.isGoing();
    }

    /** The store has answered a command. */
    void answered() {
        if (everUnanswered) {
            outage.answered();
        }
    }

    /** The store does not answer; no call has failed. */
    void unanswered(String reason) {
        everUnanswered = true;
        outage.unanswered(reason);
    }

    /** A call of the store has failed. */
    void failed(String reason, @Nullable Throwable cause) {
        if (!isClosing() && !(cause instanceof GrantedTooLateException)) {
            everUnanswered = true;
            outage.failed(reason + (cause == null ? "" : " (" + Failures.reasonOf(cause) + ")"));
        }
    }

    /** The holds that threads have lost and not released: the lists of the threads refer to them only weakly. */
    Set<HeldByThread> lost() {
        return lost;
    }

    // --- time -------------------------------------------------------------------------------------------------

    Timer timer() {
        return timer;
    }

    long nanoTime() {
        return timer.nanoTime();
    }

    /**
     * Reads the time of day first. A pause between the two readings makes it too early, so a lease ends earlier by it.
     */
    Moment now() {
        long wallMillis = timer.wallMillis();
        return new Moment(wallMillis, timer.nanoTime());
    }

    Timer.Task schedule(long delayNanos, Runnable task) {
        return timer.schedule(delayNanos, task);
    }

    /** Runs the task again and again, because a single one may be lost with something that was thrown. */
    Timer.Task repeat(long delayNanos, long pauseNanos, Runnable task) {
        return timer.repeat(delayNanos, pauseNanos, task);
    }

    // --- threads ----------------------------------------------------------------------------------------------

    /**
     * Runs it on a worker. If the process cannot make a thread, this is tried again, because the task must not be
     * forgotten.
     */
    void runLater(Runnable mayBlock) {
        try {
            workers.execute(mayBlock);
        } catch (Throwable noThread) {
            schedule(NO_THREAD_NANOS, () -> runLater(mayBlock));
        }
    }

    /**
     * Waits for an answer of the store, which comes within two command timeouts unless it was lost with something that
     * was thrown. An interrupt does not end the wait: the flag is set again.
     *
     * @return null if there is none, or the future has failed
     */
    public <T> @Nullable T awaitAnswer(CompletableFuture<T> answer) {
        long deadline = Timer.systemNanoTime() + 2 * commandTimeout();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return answer.get(deadline - Timer.systemNanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException interrupt) {
                    interrupted = true;
                }
            }
        } catch (TimeoutException | ExecutionException none) {
            return null;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Called before a caller's action changes anything, for the stack that the engine needs. */
    static void requireStack() {
        requireStack(8);
    }

    /**
     * Makes sure that enough stack is left before anything is changed. A stack overflow in the middle of a change would
     * leave it half done: a mutex that stays locked, a lock without an owner, a connection that no longer sends. Here
     * it comes while nothing has happened yet.
     *
     * <p>The JVM does not tell how much stack is left, so this uses as much as will be needed and gives it back. A
     * frame of {@link #descend} takes 80 bytes when compiled, and three times as much before, when all other code is
     * not compiled either.
     *
     * @throws StackOverflowError if the current thread has less stack left
     */
    public static void requireStack(int kilobytes) {
        descend(kilobytes * 1024 / 80, 1, 2, 3, 4, 5, 6, 7, 8);
    }

    /**
     * Never returns 0, but the JVM cannot know that, so each frame keeps all parameters. They are passed in registers,
     * unlike as many numbers of type long: this is on the way of each call.
     */
    private static double descend(
            int left, double a, double b, double c, double d, double e, double f, double g, double h) {
        double below = left == 0 ? 1 : descend(left - 1, a, b, c, d, e, f, g, h);
        return below == 0 ? a + b + c + d + e + f + g + h : below;
    }

    // --- settings ---------------------------------------------------------------------------------------------

    /** How often a waiter asks again: often enough not to miss a whole claim lease. */
    long pollInterval(Terms terms) {
        long claimLease = TimeUnit.MILLISECONDS.toNanos(Math.min(terms.ttlMillis(), LockStore.CLAIM_LEASE_MILLIS));
        return Math.min(poll(), claimLease / 3);
    }

    /** As {@link Settings#poll()}: a longer one counts as that everywhere. */
    long poll() {
        return settings.poll().toNanos();
    }

    long minRetryInterval() {
        return settings.minRetryInterval().toNanos();
    }

    /** The duration, shortened by chance to not less than half. */
    long jittered(long nanos) {
        return nanos - (long) (nanos * random.getAsDouble() / 2);
    }

    long commandTimeout() {
        return settings.commandTimeout().toNanos();
    }

    /** {@return the beginning of the ids of a registry: 128 random bits} */
    public static String randomSession() {
        return Secure.digits() + Secure.digits();
    }

    /** {@return the end of an id: 64 random bits} */
    public static String randomNonce() {
        return "." + Secure.digits();
    }

    /** Loaded at the first use, because it is slow in a process that has just started. */
    private static final class Secure {

        private static final SecureRandom RANDOM = new SecureRandom();

        static String digits() {
            byte[] bits = new byte[Long.BYTES];
            RANDOM.nextBytes(bits); // by one call, unlike nextLong
            return HexFormat.of().formatHex(bits);
        }
    }

    int localHandoffLimit() {
        return settings.localHandoffLimit();
    }

    // --- the registry's life ----------------------------------------------------------------------------------

    /** Whether no lock is granted any more. */
    boolean isClosing() {
        return life != Life.OPEN;
    }

    /** Whether holds are left to their leases. */
    boolean isClosed() {
        return life == Life.CLOSED;
    }

    /** Runs the action once the registry is closed: the timer runs nothing any more then. */
    void whenClosed(Runnable action) {
        closed.thenRun(action);
    }

    void stopGranting() {
        if (life == Life.OPEN) {
            life = Life.CLOSING;
        }
    }

    /** As {@link #close}, while the timer and the threads go on for others. */
    void leaveHolds() {
        life = Life.CLOSED;
        runLater(() -> closed.complete(null)); // what depends on it may block
    }

    void close() {
        life = Life.CLOSED;
        timer.close();
        workers.shutdown();
        try {
            workers.execute(() -> closed.complete(null)); // what depends on it may block
        } catch (Throwable noThread) {
            closed.complete(null);
        }
    }

    /**
     * Handles one event after the other under a mutex. Each event changes facts, and then {@link #settle} does what the
     * facts ask for. An event reads the clocks once, and all that it begins counts from that reading.
     */
    abstract static class Shell {

        private final EngineContext context;
        private final ReentrantLock mutex = new ReentrantLock();

        /** Events that came in the middle of another, such as an answer that a store gives at once. */
        private final Deque<Consumer<Moment>> events = new ArrayDeque<>(2);

        /** What is to be done once the mutex is free. */
        private List<Runnable> effects = new ArrayList<>(2);

        private volatile boolean settled = true;

        Shell(EngineContext context) {
            this.context = context;
        }

        /** Does what the facts ask for. Called again, it does nothing. */
        abstract void settle(Moment now);

        /** Something was thrown in the middle of an event: what may be half done is put in order. */
        abstract void heal();

        /** Called under the mutex: does this once it is free. It may run code of a user. */
        final void afterwards(Runnable effect) {
            effects.add(effect);
        }

        /** Called once a second: if something was thrown, what is left to do is done now. */
        final void check() {
            if (!settled) {
                onEvent(now -> {});
            }
        }

        /**
         * Changes facts, settles, and returns what has come of it.
         *
         * @param event changes the facts, and tells what to return once all is settled
         */
        final <T extends @Nullable Object> T change(Function<Moment, Supplier<T>> event) {
            mutex.lock();
            List<Runnable> after = List.of();
            try {
                try {
                    boolean heals = !settled;
                    settled = false;
                    Moment now = context.now();
                    if (heals) {
                        heal();
                        handleEvents(now); // before this one, for which they do not count
                    }
                    Supplier<T> result = event.apply(now);
                    settle(now);
                    handleEvents(now);
                    settled = true;
                    return result.get();
                } finally {
                    if (!effects.isEmpty()) {
                        List<Runnable> none = new ArrayList<>(2);
                        after = effects;
                        effects = none;
                    }
                }
            } finally {
                mutex.unlock();
                after.forEach(Shell::run);
            }
        }

        private void handleEvents(Moment now) {
            for (Consumer<Moment> next = events.poll(); next != null; next = events.poll()) {
                next.accept(now);
                settle(now);
            }
        }

        private static void run(Runnable effect) {
            try {
                effect.run();
            } catch (Throwable failure) {
                Failures.log("in the queue of a lock", failure);
            }
        }

        /** There is no caller to get what is thrown, so it is logged. */
        final void onEvent(Consumer<Moment> event) {
            if (mutex.isHeldByCurrentThread()) {
                events.add(event);
                return;
            }
            try {
                changeIf(() -> true, event);
            } catch (Throwable failure) {
                Failures.log("in the queue of a lock", failure);
            }
        }

        /** {@return whether the event has happened, as it only does under this condition} */
        final boolean changeIf(BooleanSupplier condition, Consumer<Moment> event) {
            return change(now -> {
                boolean happens = condition.getAsBoolean();
                if (happens) {
                    event.accept(now);
                }
                return () -> happens;
            });
        }
    }
}
