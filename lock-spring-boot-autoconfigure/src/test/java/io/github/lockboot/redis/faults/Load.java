package io.github.lockboot.redis.faults;

import java.time.Duration;
import java.util.Random;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.lockboot.LockLostException;
import io.github.lockboot.LockUnavailableException;

/**
 * What one thread does for a while on a few locks, at random but repeatably by its seed: waits without limit, with one, or
 * interrupted; counts under the lock; holds it for no time or some; releases.
 */
final class Load {

    private static final long LONGEST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(30);
    private static final long LONGEST_HOLD_NANOS = TimeUnit.MILLISECONDS.toNanos(4);

    private final Participant participant;
    private final Counters counters;
    private final long[] counted;
    private final Random random;
    private final ScheduledExecutorService interrupter;
    private Duration longestHold = Duration.ZERO;

    Load(Participant participant, Counters counters, int locks, long seed, ScheduledExecutorService interrupter) {
        this.participant = participant;
        this.counters = counters;
        this.counted = new long[locks];
        this.random = new Random(seed);
        this.interrupter = interrupter;
    }

    /** Has it hold for as long as this now and then, asking all the while whether it still does. */
    Load holdingUpTo(Duration longest) {
        longestHold = longest;
        return this;
    }

    static String lock(int index) {
        return "load-" + index;
    }

    /** @return how often it has counted under each lock */
    long[] run(Duration time) throws Exception {
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() - end < 0) {
            int index = random.nextInt(counted.length);
            if (acquire(lock(index))) {
                use(index);
            }
            Thread.interrupted();
        }
        return counted;
    }

    private boolean acquire(String lock) throws Exception {
        try {
            int way = random.nextInt(10);
            if (way < 5) {
                participant.lock(lock);
                return true;
            } else if (way < 8) {
                return participant.tryLock(lock, Duration.ofNanos((long) (random.nextDouble() * LONGEST_WAIT_NANOS)));
            }
            Thread self = Thread.currentThread();
            interrupter.schedule(
                    self::interrupt, (long) (random.nextDouble() * LONGEST_WAIT_NANOS), TimeUnit.NANOSECONDS);
            participant.lockInterruptibly(lock);
            return true;
        } catch (InterruptedException | LockUnavailableException expected) {
            return false;
        }
    }

    private void holdLong(String lock) {
        if (!longestHold.isZero() && random.nextInt(20) == 0) {
            long end = System.nanoTime() + (long) (random.nextDouble() * longestHold.toNanos());
            while (System.nanoTime() - end < 0 && participant.isHeld(lock)) {
                Thread.interrupted(); // with it, parking would be spinning
                LockSupport.parkNanos(LONGEST_HOLD_NANOS);
            }
        }
    }

    private void use(int index) {
        String lock = lock(index);
        if (participant.isHeld(lock)) {
            counters.countSlowly(index);
            counted[index]++;
            if (random.nextInt(4) == 0) {
                LockSupport.parkNanos((long) (random.nextDouble() * LONGEST_HOLD_NANOS));
            }
            holdLong(lock);
        }
        try {
            participant.unlock(lock);
        } catch (LockLostException lost) {
            // Written down by the participant; the judge decides whether it may be.
        }
    }
}
