package io.github.lockboot.internal;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/** Looks at something every so often, for as long as there is something to look at. What one look throws does not end it. */
public final class PeriodicCheck {

    private final Timer timer;
    private final long pauseNanos;
    private final BooleanSupplier look;
    private final AtomicBoolean going = new AtomicBoolean();
    private volatile Timer.@Nullable Task task;

    /** @param look tells whether to look again */
    public PeriodicCheck(Timer timer, long pauseNanos, BooleanSupplier look) {
        this.timer = timer;
        this.pauseNanos = pauseNanos;
        this.look = look;
    }

    /** There is something to look at. */
    public void start() {
        if (!going.get() && going.compareAndSet(false, true)) {
            try {
                task = timer.repeat(pauseNanos, pauseNanos, this::round);
            } catch (Throwable notScheduled) {
                going.set(false);
                throw notScheduled;
            }
        }
    }

    private void round() {
        Timer.Task current = task;
        if (!look.getAsBoolean() && current != null) {
            current.cancel();
            task = null;
            going.set(false);
            if (look.getAsBoolean()) { // it came while this was being ended
                start();
            }
        }
    }
}
