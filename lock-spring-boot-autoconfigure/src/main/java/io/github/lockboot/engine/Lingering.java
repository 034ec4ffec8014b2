package io.github.lockboot.engine;

import java.util.concurrent.TimeUnit;

import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/**
 * An acquisition that stays without a hold, for a caller that comes back. It is unlocked when its time is over, or when
 * no message could tell of other JVMs. Guarded by the mutex of the queue.
 */
final class Lingering {

    /** How soon it is unlocked once no message could tell of other JVMs. */
    private static final long CHANNEL_CHECK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private record Stay(Acquisition acquisition, long until) {}

    private final LockEngine engine;
    private final LocalQueue queue;
    private @Nullable Stay stay;
    private Timer.@Nullable Task nextCheck;

    Lingering(LockEngine engine, LocalQueue queue) {
        this.engine = engine;
        this.queue = queue;
    }

    /** Null if none lingers. */
    @Nullable
    Acquisition acquisition() {
        return stay == null ? null : stay.acquisition;
    }

    void begin(Acquisition acquisition) {
        stay = new Stay(acquisition, engine.context().nanoTime() + acquisition.terms.lingerNanos());
        check();
    }

    /** A caller has come back. The next check stays: to plan one for each release would cost more than all the rest. */
    void interrupt() {
        stay = null;
    }

    /** This acquisition has ended. */
    void end(Acquisition ended) {
        if (stay != null && stay.acquisition != ended) {
            return;
        }
        stay = null;
        if (nextCheck != null) {
            nextCheck.cancel();
            nextCheck = null;
        }
    }

    private void check() {
        if (stay == null) {
            return;
        }
        long left = stay.until - engine.context().nanoTime();
        if (left <= 0 || !engine.isNotified()) {
            queue.unlock(stay.acquisition, null);
        } else if (nextCheck == null) {
            nextCheck = engine.context()
                    .schedule(Math.min(left, CHANNEL_CHECK_NANOS), () -> queue.onEvent(this::checkAgain));
        }
    }

    private void checkAgain() {
        nextCheck = null;
        check();
    }
}
