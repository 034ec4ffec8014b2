package io.github.lockboot.engine;

import java.util.concurrent.TimeUnit;

import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/** When a waiting acquisition asks again. Guarded by the mutex of the queue. */
final class PollSchedule {

    private final EngineContext context;
    private final long interval;
    private final Runnable ask;
    private Timer.@Nullable Task next;
    private boolean jittered;
    private long backoff;

    /** @param ask runs on the timer's thread */
    PollSchedule(EngineContext context, long interval, Runnable ask) {
        this.context = context;
        this.interval = interval;
        this.ask = ask;
    }

    /**
     * In the queue: every interval, at any position, because Redis drops ids that stop asking. Also when the current lease ends, one id
     * after the other: those ahead may have died.
     *
     * @param notified whether a grant would be pushed
     */
    void inQueue(Reply.Queued queued, boolean notified) {
        long delay;
        if (notified) {
            backoff = 0;
            // The first poll comes early by chance, so that waiters that began together do not poll together.
            delay = jittered ? interval : context.jittered(interval);
            jittered = true;
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
