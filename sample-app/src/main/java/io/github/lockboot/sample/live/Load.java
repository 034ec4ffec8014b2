package io.github.lockboot.sample.live;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A load while it runs: all instances that share the Redis work on it. */
public final class Load {

    private final LoadOrder order;
    private final boolean ledHere;
    private final CountDownLatch stopped = new CountDownLatch(1);

    Load(LoadOrder order, boolean ledHere) {
        this.order = order;
        this.ledHere = ledHere;
    }

    /** One of the scenario's modes; empty if it has none. */
    public String mode() {
        return order.mode();
    }

    public Duration duration() {
        return order.duration();
    }

    /** How many instances there were when it was started. */
    public int instances() {
        return order.instances();
    }

    /** Whether this instance received the request to start it. Exactly one did. */
    public boolean isLedHere() {
        return ledHere;
    }

    /** How much of its time has passed, from 0 to 1. */
    public double progress() {
        return 1
                - (double) Duration.between(Instant.now(), order.end()).toMillis()
                        / order.duration().toMillis();
    }

    public boolean isOver() {
        return stopped.getCount() == 0 || order.isOver();
    }

    /** Sleeps for this time, or until the load is stopped. */
    public void sleep(Duration duration) throws InterruptedException {
        stopped.await(duration.toMillis(), TimeUnit.MILLISECONDS);
    }

    void stop() {
        stopped.countDown();
    }
}
