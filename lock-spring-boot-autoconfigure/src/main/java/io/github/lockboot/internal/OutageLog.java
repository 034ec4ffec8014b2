package io.github.lockboot.internal;

import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;

/**
 * Writes one line when calls begin to fail because the store does not answer, and one when that is over. The callers
 * have exceptions.
 *
 * <p>It is over once the store has answered and no call has failed for {@link #QUIET_NANOS} since: of a Cluster, one
 * server may answer while another is away. The time that is logged ends with that answer.
 */
public final class OutageLog {

    static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final Log log = Logs.of("io.github.lockboot.LockRegistry");

    private final Timer timer;
    private final Executor background;
    private volatile boolean going;
    private boolean answered; // since the last failure
    private long since;
    private long answeredAt;
    private int failedCalls;

    /** @param background for logging, which may block */
    public OutageLog(Timer timer, Executor background) {
        this.timer = timer;
        this.background = background;
    }

    /** Whether it has begun and is not over. */
    public boolean isGoing() {
        return going;
    }

    /** A call has failed. */
    public void failed(String reason) {
        failed(reason, 1);
    }

    /** The store does not answer; no call has failed. */
    public void unanswered(String reason) {
        failed(reason, 0);
    }

    private void failed(String reason, int calls) {
        boolean begins;
        synchronized (this) {
            begins = !going;
            if (begins) {
                going = true;
                since = timer.nanoTime();
                failedCalls = 0;
            }
            failedCalls += calls;
            answered = false;
        }
        if (begins) {
            background.execute(() -> log.warn("Locks are unavailable: " + LockNames.printable(reason)));
        }
    }

    /** The store has answered a command. Costs nothing but during an outage. */
    public void answered() {
        if (going) {
            Failures.runAndLog("at the end of an outage", this::firstAnswer);
        }
    }

    private synchronized void firstAnswer() {
        if (going && !answered) {
            answeredAt = timer.nanoTime(); // before the task is due, however long it takes to schedule it
            timer.schedule(QUIET_NANOS, this::endIfQuiet);
            answered = true;
        }
    }

    private synchronized void endIfQuiet() {
        if (going && answered && timer.nanoTime() - answeredAt >= QUIET_NANOS) {
            going = false;
            double seconds = TimeUnit.NANOSECONDS.toMillis(answeredAt - since) / 1000.0;
            int calls = failedCalls;
            background.execute(() -> log.info("Locks work again after " + seconds + " s; failed calls: " + calls));
        }
    }
}
