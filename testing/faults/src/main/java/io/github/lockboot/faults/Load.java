package io.github.lockboot.faults;

import java.util.List;
import java.util.Random;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * What one thread does with a lock again and again, at random but repeatably by its seed: waits, works, releases,
 * rests. Where the lock has several kinds of holds it takes one of them at random, and as a writer becomes a reader now
 * and then.
 */
final class Load {

    /** How it waits and how long it holds. */
    enum Style {
        /** Waits without limit or for up to 0.3 s, holds for some milliseconds. */
        STEADY(300_000, 5_000),
        /**
         * Gives up within 1.5 ms, by timeout or by interrupt, which is when it is about to be granted; holds shortly.
         */
        HASTY(1_500, 200);

        private final int longestWaitMicros;
        private final int longestStepMicros;

        Style(int longestWaitMicros, int longestStepMicros) {
            this.longestWaitMicros = longestWaitMicros;
            this.longestStepMicros = longestStepMicros;
        }
    }

    private static final int MOST_STEPS = 3;
    private static final int LONGEST_REST_MICROS = 5_000;
    private static final int REST_AFTER_FAILURE_MICROS = 20_000;

    private final List<Participant> kinds;
    private final Style style;
    private final Random random;
    private final ScheduledExecutorService interrupter;

    /** @param kinds the thread with each kind of hold that it takes; the last is what a writer becomes */
    Load(List<Participant> kinds, Style style, long seed, ScheduledExecutorService interrupter) {
        this.kinds = kinds;
        this.style = style;
        this.random = new Random(seed);
        this.interrupter = interrupter;
    }

    /** @return how often it has asked for the lock */
    long runWhile(BooleanSupplier goOn) {
        long tries = 0;
        for (; goOn.getAsBoolean(); tries++) {
            try {
                Participant one = kinds.get(random.nextInt(kinds.size()));
                if (take(one)) {
                    use(one);
                }
            } catch (InterruptedException expected) {
                // It gave up.
            } catch (RuntimeException unavailable) {
                Pause.nanos(TimeUnit.MICROSECONDS.toNanos(REST_AFTER_FAILURE_MICROS));
            }
            Thread.interrupted();
            if (style == Style.STEADY) {
                Pause.nanos(microsUpTo(LONGEST_REST_MICROS));
            }
        }
        return tries;
    }

    private boolean take(Participant participant) throws InterruptedException {
        int way = random.nextInt(10);
        if (style == Style.STEADY) {
            return way < 6 ? participant.lock() : participant.tryLock(microsUpTo(style.longestWaitMicros));
        }
        if (way < 5) {
            return participant.tryLock(microsUpTo(style.longestWaitMicros));
        }
        Thread self = Thread.currentThread();
        interrupter.schedule(self::interrupt, microsUpTo(style.longestWaitMicros), TimeUnit.NANOSECONDS);
        return participant.lockInterruptibly();
    }

    private void use(Participant holder) throws InterruptedException {
        Participant reader = null;
        try {
            int steps = 1 + random.nextInt(MOST_STEPS);
            for (int i = 0; i < steps && holder.work(microsUpTo(style.longestStepMicros)); i++) {
                // The step is in the condition.
            }
            if (holder.mayBecome(lastKind()) && random.nextInt(4) == 0 && holder.downgradeTo(lastKind())) {
                reader = lastKind();
            }
        } finally {
            holder.unlock();
        }
        if (reader != null) {
            use(reader);
        }
    }

    private Participant lastKind() {
        return kinds.get(kinds.size() - 1);
    }

    private long microsUpTo(int micros) {
        return TimeUnit.MICROSECONDS.toNanos(random.nextInt(micros) + 1L);
    }
}
