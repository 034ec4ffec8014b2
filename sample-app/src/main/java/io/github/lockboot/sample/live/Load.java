package io.github.lockboot.sample.live;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A load while it runs: all instances that share the Redis work on it.
 *
 * @param leader the instance that received the request to start it
 * @param mode one of the scenario's modes; empty if it has none
 * @param instances how many there were when it was started
 * @param ledHere whether this instance is the leader
 */
public record Load(
        String leader,
        String mode,
        Duration duration,
        Instant end,
        int instances,
        boolean ledHere,
        CountDownLatch stopped) {

    /**
     * @param order the {@link #order} of a load, which all instances read in Redis
     * @param here the name of this instance
     */
    static Load of(String order, String here) {
        String[] part = order.split(" ", -1);
        return of(
                part[0],
                part[1],
                Duration.parse(part[2]),
                Instant.parse(part[3]),
                Integer.parseInt(part[4]),
                part[0].equals(here));
    }

    static Load of(String leader, String mode, Duration duration, Instant end, int instances, boolean ledHere) {
        return new Load(leader, mode, duration, end, instances, ledHere, new CountDownLatch(1));
    }

    /** Differs from that of any other load of its scenario by its end. */
    String order() {
        return String.join(" ", leader, mode, duration.toString(), end.toString(), String.valueOf(instances));
    }

    /** How much of its time has passed, from 0 to 1. */
    public double progress() {
        return 1 - (double) Duration.between(Instant.now(), end).toMillis() / duration.toMillis();
    }

    public boolean isOver() {
        return stopped.getCount() == 0 || !Instant.now().isBefore(end);
    }

    /** Sleeps for this time, or until the load is stopped. */
    public void sleep(Duration duration) throws InterruptedException {
        stopped.await(duration.toMillis(), TimeUnit.MILLISECONDS);
    }

    void stop() {
        stopped.countDown();
    }
}
