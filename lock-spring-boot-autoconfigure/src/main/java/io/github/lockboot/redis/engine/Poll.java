package io.github.lockboot.redis.engine;

import java.util.concurrent.TimeUnit;

import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.protocol.Reply;
import org.jspecify.annotations.Nullable;

/** When a waiting acquisition asks again. Guarded by the mutex of the queue. */
final class Poll {

    private final LockEngine engine;
    private final long interval;
    private final Runnable ask;
    private Timer.@Nullable Task next;
    private boolean inStep;
    private long backoff;

    /** @param ask runs on the timer's thread */
    Poll(LockEngine engine, long interval, Runnable ask) {
        this.engine = engine;
        this.interval = interval;
        this.ask = ask;
    }

    /**
     * In the queue: every interval, in case a push is missed, however far back, for who does not ask counts as dead. When the
     * lease before it ends, too, one after the other: those ahead may have died.
     *
     * @return how long that takes
     */
    long inQueue(Reply.Queued queued) {
        long delay;
        if (engine.channel().isLive()) {
            backoff = 0;
            // The first poll comes early by chance, so that those who began together do not go on together.
            delay = inStep ? interval : engine.jittered(interval);
            inStep = true;
        } else {
            delay = nextBackoff();
        }
        long expiry = TimeUnit.MILLISECONDS.toNanos(queued.leftMillis() + queued.position());
        return after(Math.min(delay, Math.max(expiry, engine.minInterval())));
    }

    /**
     * Where no push can come: soon, then rarer and rarer up to the interval.
     *
     * @return how long that takes
     */
    long unaided() {
        return after(nextBackoff());
    }

    void cancel() {
        if (next != null) {
            next.cancel();
            next = null;
        }
    }

    private long after(long delay) {
        cancel();
        next = engine.schedule(delay, ask);
        return delay;
    }

    private long nextBackoff() {
        backoff = Math.min(Math.max(2 * backoff, engine.minInterval()), interval);
        return engine.jittered(backoff);
    }
}
