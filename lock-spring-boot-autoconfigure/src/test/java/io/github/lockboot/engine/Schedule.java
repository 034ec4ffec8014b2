package io.github.lockboot.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * One schedule of a few real threads. One of them runs at a time. At each {@link #step}, chance decides which one goes
 * on. A thread that waits for a mutex or is parked is left out until it goes on by itself.
 *
 * <p>Threads await their turn in {@link Object#wait}, which does not use up the permit of a thread that will park.
 */
final class Schedule {

    private static final long LOOK_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
    /** Less than the 10 s after which a parked thread looks without being woken. */
    private static final long STUCK_NANOS = TimeUnit.SECONDS.toNanos(8);

    /** What a thread does. */
    interface Action {
        void run() throws Exception;
    }

    private enum Turn {
        READY,
        RUNNING,
        ENDED
    }

    private final Random random;
    private final double switching;
    private final List<Actor> actors = new ArrayList<>();
    private Actor running;
    private volatile int steps;
    private volatile Throwable thrown;

    Schedule(long seed) {
        this.random = new Random(seed);
        this.switching = List.of(0.05, 0.2, 0.5, 1.0).get(random.nextInt(4));
    }

    /** Adds a thread, which starts with the schedule. */
    Thread add(Action action) {
        return add(action, () -> true);
    }

    /** Adds a thread that repeats an action, while there is work for it, until the other threads have ended. */
    void addServant(Action action, BooleanSupplier work) {
        BooleanSupplier over = () -> actors.stream().allMatch(actor -> actor.servant || actor.turn == Turn.ENDED);
        Actor servant = add(
                () -> {
                    while (!over.getAsBoolean()) {
                        Actor self = (Actor) Thread.currentThread();
                        self.idle = false;
                        action.run();
                        self.idle = true;
                        step();
                    }
                },
                () -> work.getAsBoolean() || over.getAsBoolean());
        servant.servant = true;
        servant.idle = true;
    }

    private Actor add(Action action, BooleanSupplier work) {
        Actor actor = new Actor("actor " + actors.size(), action, work);
        actors.add(actor);
        return actor;
    }

    /** A place at which another thread may go on. Does nothing on a thread that is none of this schedule. */
    void step() {
        if (Thread.currentThread() instanceof Actor actor && actors.contains(actor)) {
            actor.awaitTurn();
        }
    }

    /** A thread that is parked looks whether its time has passed. */
    void wakeThreads() {
        actors.forEach(LockSupport::unpark);
    }

    boolean chance(double probability) {
        return random.nextDouble() < probability;
    }

    int chooseBelow(int bound) {
        return random.nextInt(bound);
    }

    /**
     * Runs all threads to their end.
     *
     * @return the number of steps
     */
    int play() {
        actors.forEach(Thread::start);
        long movedAt = System.nanoTime();
        for (int before = 0;
                thrown == null && actors.stream().anyMatch(actor -> actor.turn != Turn.ENDED);
                before = steps) {
            LockSupport.parkNanos(LOOK_NANOS);
            giveTurn(); // if the last one that had it is blocked
            if (steps > before || actors.stream().anyMatch(Actor::isGoingOn)) {
                movedAt = System.nanoTime();
            } else if (System.nanoTime() - movedAt > STUCK_NANOS) {
                throw stuck();
            }
        }
        if (thrown != null) {
            throw new AssertionError("a thread has failed", thrown);
        }
        return steps;
    }

    /** Unless one goes on. */
    private synchronized void giveTurn() {
        if (actors.stream().anyMatch(Actor::isGoingOn)) {
            return;
        }
        List<Actor> ready = actors.stream().filter(Actor::isReady).toList();
        if (ready.isEmpty()) {
            return;
        }
        if (!ready.contains(running) || chance(switching)) {
            running = ready.get(random.nextInt(ready.size()));
        }
        running.turn = Turn.RUNNING;
        steps++;
        notifyAll();
    }

    private AssertionError stuck() {
        AssertionError error = new AssertionError("no thread goes on");
        for (Actor actor : actors) {
            Throwable where = new Throwable(actor.getName() + " is " + actor.turn);
            where.setStackTrace(actor.getStackTrace());
            error.addSuppressed(where);
        }
        return error;
    }

    private final class Actor extends Thread {

        private final Action action;
        private final BooleanSupplier work;
        private volatile Turn turn = Turn.RUNNING;
        private boolean servant;
        private volatile boolean idle;

        Actor(String name, Action action, BooleanSupplier work) {
            super(name);
            this.action = action;
            this.work = work;
            setDaemon(true);
        }

        boolean isReady() {
            return turn == Turn.READY && (!idle || work.getAsBoolean());
        }

        /** Whether it runs or is about to. One that is blocked is not waited for. */
        boolean isGoingOn() {
            Thread.State now = getState();
            return turn == Turn.RUNNING && (now == Thread.State.RUNNABLE || now == Thread.State.NEW);
        }

        @Override
        public void run() {
            try {
                awaitTurn();
                action.run();
            } catch (Throwable failure) {
                synchronized (Schedule.this) {
                    thrown = thrown == null ? failure : thrown;
                }
            } finally {
                turn = Turn.ENDED;
                giveTurn();
            }
        }

        private void awaitTurn() {
            boolean interrupted = false;
            synchronized (Schedule.this) {
                turn = Turn.READY;
                giveTurn();
                while (turn == Turn.READY) {
                    try {
                        Schedule.this.wait();
                    } catch (InterruptedException e) {
                        interrupted = true;
                    }
                }
            }
            if (interrupted) {
                interrupt();
            }
        }
    }
}
