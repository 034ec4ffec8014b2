package io.github.lockboot;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A {@link Lock} with a name, held by at most one thread of the whole fleet at a time.
 *
 * <p>A lock object is a cheap handle: two handles for one name from one registry are the same lock. A hold belongs to
 * the thread that took it and is reentrant: taking the lock again counts up in this JVM and costs no command.
 *
 * <p>Every hold has a lease. It is renewed in the background unless renewal is off, and it can still be lost: the
 * process was paused for longer than the lease, Redis was out of reach, the key was deleted. The holder knows by
 * its own monotonic clock, earlier than anybody else is given the lock: from then on {@link #isHeldByCurrentThread()}
 * is false, the callbacks of {@link #onLost} have been handed over for execution, and {@link #unlock()} throws
 * {@link LockLostException}.
 *
 * <p>Those who wait in one JVM are served in the order in which they asked, and JVMs in the order in which they queued; each
 * serves several of its own in its turn, as {@code lock.local-handoff-limit} says.
 *
 * <p>All methods may be called from any thread, virtual threads included.
 */
public interface NamedLock extends Lock {

    /** {@return the name given to the registry, without the key prefix} */
    String getName();

    /**
     * {@return the options this handle locks with, complete: what was asked for, what is configured for the group, and what the
     * registry adds}
     */
    LockOptions options();

    /**
     * Takes the lock: at once if it is free, and without asking Redis if the current thread holds it; else waits without limit.
     * An interrupt does not end the wait; the flag is set again on return.
     *
     * @throws LockUnavailableException if Redis could not be asked at the first attempt, or was out of reach for a whole
     *     ttl while waiting, or the registry is closing
     */
    @Override
    void lock();

    /**
     * As {@link #lock()}, but an interrupt, before or during the wait, ends it without the lock.
     *
     * @throws InterruptedException if interrupted; the flag is then clear and the lock is not held by this call
     * @throws LockUnavailableException as for {@link #lock()}
     */
    @Override
    void lockInterruptibly() throws InterruptedException;

    /**
     * Takes the lock if it is free or already mine, asking Redis once, without waiting. It does not queue, so beside
     * busy waiters it may fail for ever. An interrupt neither stops it nor is lost.
     *
     * @return false if another holds the lock or waits for it
     * @throws LockUnavailableException if Redis could not be asked
     */
    @Override
    boolean tryLock();

    /**
     * Takes the lock: at once if it is free, and without asking Redis if the current thread holds it; else waits at most the
     * given time in all. A time of zero or less is a single attempt, as {@link #tryLock()}. The wait ends when its time is over,
     * but not before Redis has answered once, which takes at most its command timeout: until then it is unknown whether another
     * holds the lock.
     *
     * @return false if the time passed first
     * @throws InterruptedException if interrupted before or during the wait; the flag is then clear
     * @throws LockUnavailableException if Redis could not be asked at the first attempt
     */
    @Override
    boolean tryLock(long time, TimeUnit unit) throws InterruptedException;

    /**
     * As {@link #tryLock(long, TimeUnit)}, with a lease of its own for the hold that this call takes. If the current thread
     * already holds the lock, its lease stays as it is.
     *
     * @param wait how long to wait in all; zero or less tries once
     * @param ttl the lease, at least one second; renewed or not as the handle's options say
     * @return false if the time passed first
     * @throws IllegalArgumentException if {@code ttl} is below one second
     * @throws InterruptedException if interrupted before or during the wait; the flag is then clear
     * @throws LockUnavailableException if Redis could not be asked at the first attempt
     */
    boolean tryLock(Duration wait, Duration ttl) throws InterruptedException;

    /**
     * Gives up one hold of the current thread; the last one releases the lock, waiting for the answer of Redis at most its
     * command timeout. An interrupt neither ends that nor is lost. A release whose outcome Redis did not tell in time returns
     * normally and is settled in the background.
     *
     * @throws IllegalMonitorStateException if the current thread does not hold the lock
     * @throws LockLostException if the lease ended while the current thread held it; nothing was deleted
     */
    @Override
    void unlock();

    /**
     * Not offered: a condition that outlives the process of its waiter cannot be kept honestly.
     *
     * @throws UnsupportedOperationException always
     */
    @Override
    Condition newCondition();

    /**
     * One of the current thread's holds as an object: closing it gives up that hold, once, on whatever thread, instead of
     * {@link #unlock()}. All else stays: the hold is the thread's, reentrant, and counted by {@link #getHoldCount()}. For what ends
     * on a thread that the caller cannot choose, such as a transaction.
     *
     * @return a hold of the current thread; a hold that is closed later keeps its limit on how long it may take
     * @throws IllegalMonitorStateException if the current thread does not hold the lock
     * @throws LockLostException if it has lost it
     */
    Lease asLease();

    /** {@return the holds of the current thread; 0 when it does not hold the lock or has lost it} */
    int getHoldCount();

    /**
     * {@return whether the current thread holds the lock and its lease cannot have run out yet, by either clock of this
     * JVM} Never true after the lock may have been given to another. A hold that was asked about while only the time of day said that it had run
     * out, as after the machine slept, is not renewed any more; it may still be released.
     */
    boolean isHeldByCurrentThread();

    /**
     * {@return whether anybody holds the lock, by one question to Redis when it is not a thread of this registry} The answer
     * may be old when it arrives: for display and tests, not for decisions.
     *
     * @throws LockUnavailableException if Redis could not be asked
     */
    boolean isLocked();

    /**
     * {@return the fencing token of the current thread's hold: larger than that of every earlier hold of this name} Hand it
     * to the guarded resource, which refuses tokens smaller than the largest it has seen.
     *
     * @throws IllegalMonitorStateException if the current thread does not hold the lock
     * @throws LockLostException if it has lost it
     */
    long fencingToken();

    /** {@return how long the current thread's lease lasts for certain unless renewed; zero when it does not hold the lock} */
    Duration remainingLease();

    /**
     * Has the callback run once if the current thread's hold is lost; not at all if it is released. The callback runs on a
     * thread of the registry; what it throws is logged.
     *
     * @param callback runs after the loss
     * @throws IllegalMonitorStateException if the current thread does not hold the lock
     * @throws LockLostException if it has lost it already
     */
    void onLost(Runnable callback);
}
