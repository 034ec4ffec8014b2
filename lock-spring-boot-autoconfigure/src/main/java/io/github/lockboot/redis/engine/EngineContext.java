package io.github.lockboot.redis.engine;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;

import io.github.lockboot.internal.SerialExecutor;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.engine.Grant.Moment;
import io.github.lockboot.redis.engine.LockRequest.Terms;
import io.github.lockboot.redis.protocol.LockStore;

/** What the engine gets from outside, time, threads, chance and settings, and how far the registry's life has come. */
public final class EngineContext {

    private static final long NO_THREAD_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private enum Life {
        OPEN,
        CLOSING,
        CLOSED
    }

    /**
     * How a registry waits and passes on.
     *
     * @param retryInterval how often a waiter asks, in case a message is lost
     * @param minRetryInterval how soon a waiter asks again that no message can reach
     * @param commandTimeout how long Redis may take for an answer
     * @param localHandoffLimit how many local waiters are still served when other JVMs wait
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
    private final Executor inTurn;
    private final DoubleSupplier random;
    private final LockLog log = new LockLog();
    private volatile Life life = Life.OPEN;

    /** @param random in [0, 1) */
    public EngineContext(Settings settings, Timer timer, ExecutorService workers, DoubleSupplier random) {
        this.settings = settings;
        this.timer = timer;
        this.workers = workers;
        this.inTurn = new SerialExecutor(this::runLater);
        this.random = random;
    }

    public LockLog log() {
        return log;
    }

    // --- time -------------------------------------------------------------------------------------------------

    Timer timer() {
        return timer;
    }

    long nanoTime() {
        return timer.nanoTime();
    }

    long wallMillis() {
        return timer.wallMillis();
    }

    Moment now() {
        return Moment.now(timer);
    }

    Timer.Task schedule(long delayNanos, Runnable task) {
        return timer.schedule(delayNanos, task);
    }

    /** For what must happen although a single task may be lost with something that was thrown. */
    Timer.Task repeat(long delayNanos, long pauseNanos, Runnable task) {
        return timer.repeat(delayNanos, pauseNanos, task);
    }

    // --- threads ----------------------------------------------------------------------------------------------

    /** On a worker. When the process has no thread left to give, it is tried again: what is run here must not be forgotten. */
    void runLater(Runnable mayBlock) {
        try {
            workers.execute(mayBlock);
        } catch (Throwable noThread) {
            schedule(NO_THREAD_NANOS, () -> runLater(mayBlock));
        }
    }

    /** On a worker too, but one after the other: for many at once that do not block. */
    void runInTurn(Runnable quick) {
        inTurn.execute(quick);
    }

    // --- settings ---------------------------------------------------------------------------------------------

    /** How often a waiter asks again: never so rarely that it could miss a whole claim lease. */
    long pollInterval(Terms terms) {
        long claimLease = TimeUnit.MILLISECONDS.toNanos(Math.min(terms.ttlMillis(), LockStore.CLAIM_LEASE_MILLIS));
        return Math.min(retryInterval(), claimLease / 3);
    }

    long retryInterval() {
        return settings.retryInterval().toNanos();
    }

    long minRetryInterval() {
        return settings.minRetryInterval().toNanos();
    }

    /** The duration, shortened by chance to not less than half. */
    long jittered(long nanos) {
        return nanos - (long) (nanos / 2 * random.getAsDouble());
    }

    long commandTimeout() {
        return settings.commandTimeout().toNanos();
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

    void stopGranting() {
        if (life == Life.OPEN) {
            life = Life.CLOSING;
        }
    }

    void close() {
        life = Life.CLOSED;
        timer.close();
        workers.shutdown();
    }
}
