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
 * <p>Every hold has a lease. It is renewed in the background unless renewal is off. It can still be lost: the process was paused
 * for longer than the lease, Redis was out of reach, the key was deleted. The holder knows by its own monotonic clock, before
 * another gets the lock. From then on {@link #isHeldByCurrentThread()} is false, the callbacks of {@link #onLost} run, and
 * {@link #unlock()} throws {@link LockLostException}.
 *
 * <p>Threads that wait in one JVM are served in the order in which they asked, and JVMs in the order in which they queued. A JVM
 * serves several of its own threads in its turn, as {@code lock.local-handoff-limit} says.
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
     * An interrupt does not end the wait; its flag is set again on return.
     *
     * @throws LockUnavailableException if Redis could not be asked at the first attempt, or was out of reach for a whole
     *     ttl while waiting, or the registry is closing
     */
    @Override
    void lock();

    /**
     * As {@link #lock()}, but an interrupt ends the wait.
     *
     * @throws InterruptedException if interrupted before or during the wait; the flag is then clear
     */
    @Override
    void lockInterruptibly() throws InterruptedException;

    /**
     * Takes the lock if it is free or the current thread holds it. Asks Redis once and does not wait. It does not queue, so beside
     * busy waiters it may fail for ever. An interrupt neither stops it nor is lost.
     *
     * @return false if another holds the lock or waits for it
     * @throws LockUnavailableException if Redis could not be asked
     */
    @Override
    boolean tryLock();

    /**
     * As {@link #lockInterruptibly()}, but waits at most the given time; zero or less is a single attempt. The wait does not end
     * before Redis has answered once, which takes at most its command timeout: until then it is unknown whether another holds the
     * lock.
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
     * @param wait how long to wait; zero or less tries once
     * @param ttl the lease, at least one second; renewed or not as the handle's options say
     * @return false if the time passed first
     * @throws IllegalArgumentException if {@code ttl} is below one second
     * @throws InterruptedException if interrupted before or during the wait; the flag is then clear
     */
    boolean tryLock(Duration wait, Duration ttl) throws InterruptedException;

    /**
     * Gives up one hold of the current thread. The last one releases the lock, and waits for the answer of Redis at most its
     * command timeout; without an answer it returns normally, and the release is settled in the background. An interrupt neither
     * ends that wait nor is lost.
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
     * {@return one of the current thread's holds as an object; closing it on any thread gives up that hold, instead of
     * {@link #unlock()}} The hold is still the thread's, reentrant, and counted by {@link #getHoldCount()}, and its limit on how long
     * it may take stays. For what ends on a thread that the caller cannot choose, such as a transaction.
     *
     * @throws IllegalMonitorStateException if the current thread does not hold the lock
     * @throws LockLostException if it has lost it
     */
    Lease asLease();

    /** {@return the holds of the current thread; 0 when it does not hold the lock or has lost it} */
    int getHoldCount();

    /**
     * {@return whether the current thread holds the lock and its lease cannot have run out yet, by either clock of this JVM} Never
     * true once another may have the lock. If only the time of day says that the lease has run out, as after the machine slept, the
     * answer is false and the hold is not renewed any more; it may still be released.
     */
    boolean isHeldByCurrentThread();

    /**
     * {@return whether the lock is held; asks Redis once if no thread of this registry holds it} The answer may be old when it
     * arrives: for display and tests, not for decisions.
     *
     * @throws LockUnavailableException if Redis could not be asked
     */
    boolean isLocked();

    /**
     * {@return the fencing token of the current thread's hold: larger than that of every earlier hold of this name} Pass it to the
     * guarded resource, which refuses tokens smaller than the largest it has seen.
     *
     * @throws IllegalMonitorStateException if the current thread does not hold the lock
     * @throws LockLostException if it has lost it
     */
    long fencingToken();

    /** {@return how long the current thread's lease lasts for certain unless renewed; zero when it does not hold the lock} */
    Duration remainingLease();

    /**
     * Runs a callback once if the current thread's hold is lost, on a thread of the registry; what it throws is logged.
     *
     * @param callback runs after the loss
     * @throws IllegalMonitorStateException if the current thread does not hold the lock
     * @throws LockLostException if it has lost it already
     */
    void onLost(Runnable callback);
}
