package io.github.lockboot.engine;

import java.util.concurrent.TimeUnit;

import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/**
 * When a waiting acquisition asks again. Guarded by the mutex of the queue.
 *
 * <p>Messages make a wait short, polls make it certain: a message may be lost, and the store drops ids that do not ask.
 * So even where messages arrive, an id asks once in every interval. Where none can arrive, it asks soon and then less
 * and less often, because each question of each waiting JVM is work for the store.
 */
final class PollSchedule {

    private static final long FIRST = -1;

    private final EngineContext context;
    private final long interval;
    private final Runnable ask;
    private Timer.@Nullable Task next;

    /** The newest pause without messages; {@link #FIRST} before the first poll. */
    private long backoff = FIRST;

    /** @param ask runs on the timer's thread */
    PollSchedule(EngineContext context, long interval, Runnable ask) {
        this.context = context;
        this.interval = interval;
        this.ask = ask;
    }

    /**
     * In the queue: every interval, at any position, because the store drops ids that stop asking. Also when the
     * current lease ends, one id after the other: those ahead may have died.
     *
     * @param notified whether a grant would be pushed
     */
    void inQueue(Reply.Queued queued, boolean notified) {
        long delay;
        if (notified) {
            // The first poll comes early by chance, so that waiters that began together do not poll together.
            delay = backoff == FIRST ? context.jittered(interval) : interval;
            backoff = 0;
        } else {
            delay = nextBackoff();
        }
        long expiry = TimeUnit.MILLISECONDS.toNanos(queued.leftMillis() + queued.position());
        after(Math.min(delay, Math.max(expiry, context.minRetryInterval())));
    }

    /** Where no message can come: soon, then rarer and rarer up to the interval. */
    void unaided() {
        after(nextBackoff());
    }

    void cancel() {
        if (next != null) {
            next.cancel();
            next = null;
        }
    }

    private void after(long delay) {
        cancel();
        next = context.schedule(delay, ask);
    }

    private long nextBackoff() {
        backoff = Math.min(Math.max(2 * backoff, context.minRetryInterval()), interval);
        return context.jittered(backoff);
    }
}
