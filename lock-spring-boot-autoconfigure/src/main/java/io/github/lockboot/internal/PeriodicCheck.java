package io.github.lockboot.internal;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/** Repeats a check with pauses for as long as there is something to check. An exception does not end it. */
public final class PeriodicCheck {

    private final Timer timer;
    private final long pauseNanos;
    private final BooleanSupplier check;
    private final AtomicBoolean going = new AtomicBoolean();
    private volatile Timer.@Nullable Task task;

    /** @param check returns whether there is still something to check */
    public PeriodicCheck(Timer timer, long pauseNanos, BooleanSupplier check) {
        this.timer = timer;
        this.pauseNanos = pauseNanos;
        this.check = check;
    }

    /** Starts the check unless it is going on; to be called whenever there is something to check. */
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
        if (!check.getAsBoolean() && current != null) {
            current.cancel();
            task = null;
            going.set(false);
            if (check.getAsBoolean()) { // something came while this ended
                start();
            }
        }
    }
}
