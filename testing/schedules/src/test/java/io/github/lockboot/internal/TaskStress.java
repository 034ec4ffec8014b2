package io.github.lockboot.internal;

import java.util.concurrent.atomic.AtomicInteger;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** How tasks are handed from one thread to another. */
final class TaskStress {

    private TaskStress() {}

    @JCStressTest
    @Outcome(id = "2, 1, 0", expect = Expect.ACCEPTABLE, desc = "Both run, one after the other.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "A task is left, or two run at a time.")
    @State
    public static class TasksOneAfterTheOther {

        private final SerialExecutor executor = new SerialExecutor(Runnable::run);
        private final AtomicInteger running = new AtomicInteger();
        private int ran;
        private int most;

        private void task() {
            most = Math.max(most, running.incrementAndGet());
            ran++;
            running.decrementAndGet();
        }

        @Actor
        public void first() {
            executor.execute(this::task);
        }

        @Actor
        public void second() {
            executor.execute(this::task);
        }

        @Arbiter
        public void end(III_Result result) {
            result.r1 = ran;
            result.r2 = most;
            result.r3 = executor.waiting();
        }
    }

    /** Something comes while the check for the last thing ends. */
    @JCStressTest
    @Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "What came is looked after.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Nothing looks after what came.")
    @State
    public static class ACheckStartsWhileItEnds implements Timer {

        private final AtomicInteger repeated = new AtomicInteger();
        private volatile Runnable round;
        private volatile boolean anything;
        private final Check check = check(1, () -> anything);

        public ACheckStartsWhileItEnds() {
            check.start();
        }

        @Actor
        public void caller() {
            anything = true;
            check.start();
        }

        @Actor
        public void timer() {
            round.run();
        }

        @Arbiter
        public void end(ZZ_Result result) {
            result.r1 = anything;
            result.r2 = repeated.get() > 0;
        }

        @Override
        public Task repeat(long delayNanos, long pauseNanos, Runnable task) {
            round = task;
            repeated.incrementAndGet();
            return repeated::decrementAndGet;
        }

        @Override
        public Task schedule(long delayNanos, Runnable task) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long nanoTime() {
            return 0;
        }

        @Override
        public long wallMillis() {
            return 0;
        }

        @Override
        public void close() {}
    }
}
