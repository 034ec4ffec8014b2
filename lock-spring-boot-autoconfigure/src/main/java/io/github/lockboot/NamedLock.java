package io.github.lockboot;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

import org.jspecify.annotations.Nullable;

/**
 * A {@link Lock} with a name, held by at most one thread of the whole fleet at a time.
 *
 * <p>A lock object is a cheap handle: two handles for one name from one registry are the same lock. A hold belongs to
 * the thread that took it and is reentrant: taking the lock again counts up in this JVM and costs no command.
 *
 * <p>Every hold has a lease. It is renewed in the background unless renewal is off, and it can still be lost: the
 * process was paused for longer than the lease, Redis was out of reach, somebody deleted the key. The holder knows by
 * its own monotonic clock, earlier than anybody else is given the lock: from then on {@link #isHeldByCurrentThread()}
 * is false, the callbacks of {@link #onLost} have been handed over for execution, and {@link #unlock()} throws
 * {@link LockLostException}.
 *
 * <p>All methods may be called from any thread, virtual threads included.
 */
public interface NamedLock extends Lock {

    /** The name given to the registry, without the key prefix. */
    String getName();

    /**
     * Takes the lock, waiting without limit while another holds it; returns at once if the current thread holds it. An
     * interrupt does not end the wait; the flag is set again on return.
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
     * Takes the lock if it is free or already mine, asking Redis once and waiting for nobody. It does not queue, so beside
     * busy waiters it may fail for ever. An interrupt neither stops it nor is lost.
     *
     * @return false if another holds the lock or waits for it
     * @throws LockUnavailableException if Redis could not be asked
     */
    @Override
    boolean tryLock();

    /**
     * Takes the lock, waiting at most the given time in all. A time of zero or less is a single attempt.
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
     * @param ttl the lease, at least one second; renewed or not as the handle's options say
     * @throws IllegalArgumentException if {@code ttl} is below one second
     */
    boolean tryLock(Duration wait, Duration ttl) throws InterruptedException;

    /**
     * Gives up one hold of the current thread; the last one releases the lock. The release is not undone by an
     * interrupt, and one whose outcome Redis did not tell in time is settled in the background.
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

    /** The holds of the current thread; 0 when it does not hold the lock or has lost it. */
    int getHoldCount();

    /**
     * Whether the current thread holds the lock and its lease cannot have run out yet, judged by this JVM's monotonic clock
     * alone. Never true after the lock may have been given to another.
     */
    boolean isHeldByCurrentThread();

    /**
     * Whether anybody holds the lock, by one question to Redis when it is not a thread of this registry. The answer may be
     * old when it arrives: for display and tests, not for decisions.
     *
     * @throws LockUnavailableException if Redis could not be asked
     */
    boolean isLocked();

    /**
     * The fencing token of the current thread's hold: larger than that of every earlier hold of this name. Hand it to the
     * guarded resource, which refuses tokens smaller than the largest it has seen.
     *
     * @throws IllegalMonitorStateException if the current thread does not hold the lock
     * @throws LockLostException if it has lost it
     */
    long fencingToken();

    /** How long the current thread's lease lasts for certain unless renewed; zero when it does not hold the lock. */
    Duration remainingLease();

    /**
     * Runs an action as part of the current thread's hold: what {@link LockListener}s set up for it, such as a span and a
     * logging context, is there while it runs. Neither takes nor releases the lock; without a hold it just runs.
     */
    default <T extends @Nullable Object, E extends Throwable> T call(LockTemplate.Action<T, E> action) throws E {
        return action.run();
    }

    /**
     * Has the callback run once if the current thread's hold is lost; not at all if it is released. The callback runs on a
     * thread of the registry; what it throws is logged.
     *
     * @throws IllegalMonitorStateException if the current thread does not hold the lock
     * @throws LockLostException if it has lost it already
     */
    void onLost(Runnable callback);
}
