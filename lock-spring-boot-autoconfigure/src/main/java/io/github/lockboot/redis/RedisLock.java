package io.github.lockboot.redis;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;

import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockScope;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;

/**
 * A lock on Redis, as {@link java.util.concurrent.locks.Lock} specifies it: ownership by thread and reentrancy, on top of the
 * queue of this JVM for the name. A handle without state of its own.
 */
public final class RedisLock implements NamedLock, LockScope {

    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final LockEngine engine;
    private final String name;
    private final LockOptions options;
    private final Terms terms;
    private final long maxHoldNanos;

    /** @param options complete */
    RedisLock(LockEngine engine, String name, LockOptions options) {
        this.engine = engine;
        this.name = name;
        this.options = options;
        Duration ttl = Objects.requireNonNull(options.ttl());
        this.terms = new Terms(ttl.toMillis(), Objects.requireNonNull(options.renew()));
        Duration maxHold = options.maxHold();
        this.maxHoldNanos = maxHold == null ? 0 : LockEngine.nanosOf(maxHold);
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public LockOptions options() {
        return options;
    }

    CompletableFuture<Lease> acquireAsync(Duration wait) {
        return LeaseRequest.make(engine, name, options.group(), terms, maxHoldNanos, LockEngine.nanosOf(wait));
    }

    CompletableFuture<Optional<Lease>> acquireOrFollowAsync(Duration wait) {
        return LeaseRequest.follow(engine, name, options.group(), terms, maxHoldNanos, LockEngine.nanosOf(wait));
    }

    // --- taking -----------------------------------------------------------------------------------------------

    @Override
    public void lock() {
        if (!enterAgain()) {
            acquireUninterruptibly(terms, Waiter.Patience.UNLIMITED);
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        failIfInterrupted();
        if (!enterAgain()) {
            acquire(terms, Waiter.Patience.UNLIMITED, 0, true);
        }
    }

    @Override
    public boolean tryLock() {
        return enterAgain() || acquireUninterruptibly(terms, Waiter.Patience.ONCE);
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return tryLock(terms, Math.min(unit.toNanos(time), LockEngine.LONGEST_NANOS));
    }

    @Override
    public boolean tryLock(Duration wait, Duration ttl) throws InterruptedException {
        LockOptions.defaults().withTtl(ttl); // refuses what no lock may have
        return tryLock(new Terms(ttl.toMillis(), terms.renew()), LockEngine.nanosOf(wait));
    }

    private boolean tryLock(Terms wanted, long waitNanos) throws InterruptedException {
        failIfInterrupted();
        return enterAgain()
                || acquire(wanted, waitNanos <= 0 ? Waiter.Patience.ONCE : Waiter.Patience.LIMITED, waitNanos, true);
    }

    private static void failIfInterrupted() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    private boolean enterAgain() {
        Hold mine = mine();
        return mine != null && mine.enterAgain();
    }

    private boolean acquireUninterruptibly(Terms wanted, Waiter.Patience patience) {
        try {
            return acquire(wanted, patience, 0, false);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private boolean acquire(Terms wanted, Waiter.Patience patience, long waitNanos, boolean interruptible)
            throws InterruptedException {
        Headroom.check();
        Watch watch = engine.listeners().requested(name, options.group(), Thread.currentThread());
        Waiter waiter = Waiter.thread(wanted, maxHoldNanos, patience, watch);
        try {
            Deadline deadline = new Deadline(waiter, engine.nanoTime() + waitNanos);
            await(waiter, engine.enter(name, waiter), deadline, interruptible);
            return outcomeOf(waiter);
        } catch (Throwable thrown) { // whatever it is, and whatever had become of it: the caller has no lock
            waiter.gone = true;
            engine.withdraw(name, waiter, thrown);
            watch.unavailable(); // unless it has been told
            throw thrown;
        }
    }

    private void await(Waiter waiter, LocalQueue queue, Deadline deadline, boolean interruptible)
            throws InterruptedException {
        boolean interrupted = false;
        try {
            while (!isDecided(queue, waiter)) {
                interrupted |= Thread.interrupted();
                if (interrupted && interruptible && queue.leave(waiter)) {
                    interrupted = false;
                    waiter.watch().abandoned();
                    throw new InterruptedException();
                }
                // Taking the queue's mutex may have used up the wake-up that came with a decision: look again.
                if (waiter.isWaiting()) {
                    deadline.park(queue);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Until when a thread waits. It is told of its outcome, but looks now and then whether it has one; and if it has none long after it
     * must have had one, it waits no longer.
     */
    private final class Deadline {

        private final Waiter waiter;
        private final long at;
        private boolean passed;
        private int silences;

        Deadline(Waiter waiter, long at) {
            this.waiter = waiter;
            this.at = at;
            this.passed = waiter.triesOnce();
        }

        /** Waits until something happens. */
        void park(LocalQueue queue) {
            if (passed) {
                parkForAnswer(queue);
            } else if (waiter.isUnlimited()) {
                LockSupport.parkNanos(RedisLock.this, LOOK_NANOS);
            } else {
                long left = at - engine.nanoTime();
                if (left > 0) {
                    LockSupport.parkNanos(RedisLock.this, Math.min(left, LOOK_NANOS));
                } else {
                    passed = true;
                    queue.leaveAtDeadline(waiter);
                }
            }
        }

        private void parkForAnswer(LocalQueue queue) {
            long timeout = engine.commandTimeout();
            long before = engine.nanoTime();
            LockSupport.parkNanos(RedisLock.this, timeout);
            if (engine.nanoTime() - before >= timeout && ++silences == 2) {
                queue.giveUp(waiter);
            }
        }
    }

    /** Whether the wait is over; a grant counts once it is claimed, with its lease still running. */
    private static boolean isDecided(LocalQueue queue, Waiter waiter) {
        Waiter.Outcome outcome = waiter.outcome();
        if (!(outcome instanceof Hold granted)) {
            return outcome != Waiter.Plain.WAITING;
        }
        if (!granted.isCertain()) {
            queue.takeBackOverdue(waiter, granted);
            return false;
        }
        return granted.claim();
    }

    private boolean outcomeOf(Waiter waiter) {
        Waiter.Outcome outcome = waiter.outcome();
        Watch watch = waiter.watch();
        if (outcome instanceof Waiter.Failure failure) {
            watch.unavailable();
            engine.log().unavailable(name, failure.reason());
            throw new LockUnavailableException(name, failure.reason(), failure.cause());
        }
        if (outcome instanceof Hold granted) {
            watch.acquired(granted);
            return true;
        }
        watch.notAcquired();
        engine.log().notAcquired(name);
        return false;
    }

    // --- giving back ------------------------------------------------------------------------------------------

    @Override
    public void unlock() {
        giveBack(held());
    }

    @Override
    public Lease asLease() {
        Hold hold = intact();
        hold.waiter().outliveThread();
        return new OneHold(hold);
    }

    private void giveBack(Hold hold) {
        if (hold.isLost()) {
            if (hold.exit() == 0) {
                engine.losses().forget(hold);
            }
            throw hold.lostException();
        }
        if (hold.exit() == 0) {
            try {
                hold.releaseAndAwait();
            } catch (LockLostException lost) {
                engine.losses().forget(hold);
                throw lost;
            }
        }
    }

    /** A condition that outlives the process of its waiter cannot be kept honestly. */
    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("a distributed lock offers no conditions");
    }

    // --- asking -----------------------------------------------------------------------------------------------

    @Override
    public int getHoldCount() {
        Hold mine = mine();
        return mine == null ? 0 : mine.count();
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return mine() != null;
    }

    @Override
    public boolean isLocked() {
        LocalQueue queue = engine.queue(name);
        Hold local = queue == null ? null : queue.holder();
        return local != null && local.isValid() || engine.isLocked(name);
    }

    @Override
    public long fencingToken() {
        return intact().fencingToken();
    }

    @Override
    public Duration remainingLease() {
        Hold mine = mine();
        return mine == null ? Duration.ZERO : mine.remainingLease();
    }

    @Override
    public <T extends @Nullable Object, E extends Throwable> T call(Body<T, E> action) throws E {
        Hold mine = engine.listeners().isEmpty() ? null : mine();
        return mine == null ? action.run() : mine.call(action);
    }

    @Override
    public void onLost(Runnable callback) {
        intact().onLost(callback);
    }

    /** The current thread's hold, if its lease cannot have run out. */
    private @Nullable Hold mine() {
        LocalQueue queue = engine.queue(name);
        Hold hold = queue == null ? null : queue.holder();
        return hold != null && hold.owner() == Thread.currentThread() && hold.isValid() ? hold : null;
    }

    /** The current thread's hold, lost or not. */
    private Hold held() {
        Thread current = Thread.currentThread();
        LocalQueue queue = engine.queue(name);
        Hold hold = queue == null ? null : queue.holder();
        if (hold == null || hold.owner() != current) {
            hold = engine.losses().of(name, current);
        }
        if (hold == null) {
            throw new IllegalMonitorStateException(
                    "lock '" + LockNames.printable(name) + "' is not held by thread " + current.getName());
        }
        return hold;
    }

    private Hold intact() {
        Hold hold = held();
        if (!hold.isValid()) {
            throw hold.lostException();
        }
        return hold;
    }

    @Override
    public String toString() {
        return "RedisLock[" + LockNames.printable(name) + "]";
    }

    /** One of the holds that a thread counts. */
    private final class OneHold implements Lease, LockScope {

        private final Hold hold;
        private final AtomicBoolean closed = new AtomicBoolean();

        OneHold(Hold hold) {
            this.hold = hold;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public long fencingToken() {
            return hold.fencingToken();
        }

        @Override
        public boolean isValid() {
            return !closed.get() && hold.isValid();
        }

        @Override
        public Duration remainingLease() {
            return isValid() ? hold.remainingLease() : Duration.ZERO;
        }

        @Override
        public void onLost(Runnable callback) {
            hold.onLost(callback);
        }

        @Override
        public <T extends @Nullable Object, E extends Throwable> T call(Body<T, E> action) throws E {
            return hold.call(action);
        }

        @Override
        public void close() {
            if (closed.compareAndSet(false, true)) {
                giveBack(hold);
            }
        }

        @Override
        public String toString() {
            return hold.toString();
        }
    }
}
