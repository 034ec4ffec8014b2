package io.github.lockboot;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A {@link Lock} with a name. At most one thread of all instances holds it at a time, unless its {@link #options()} are
 * shared or have permits: then others that request it in the same way may hold it, too.
 *
 * <p>A lock object is a cheap handle: two handles for one name from one registry are the same lock, if mode and permits
 * are the same, and then they are equal. A hold belongs to the thread that acquired it and is reentrant: acquiring the
 * lock again raises a count in this JVM and sends no command. A thread that holds the name exclusively may also acquire
 * it shared. A thread that holds it shared or with a permit cannot acquire it in another way, because it would wait for
 * itself: it gets an {@link IllegalStateException} at once.
 *
 * <p>Every hold has a lease. It is renewed in the background unless renewal is off. It can still be lost: if the
 * process is paused for longer than the lease, Redis is not available, or the key is deleted. The holder knows by its
 * own monotonic clock, before another caller gets the lock. From then on {@link #isHeldByCurrentThread()} is false, the
 * callbacks of {@link #onLost} run, and {@link #unlock()} throws {@link LockLostException}.
 *
 * <p>Waiting threads of one JVM get the lock in the order of their requests, and JVMs in the order in which they
 * queued. A JVM may serve several of its threads in its turn: see {@code lock.local-handoff-limit}.
 *
 * <p>All methods may be called from any thread, virtual threads included.
 */
public interface NamedLock extends Lock {

    /** {@return the name given to the registry, without the key prefix} */
    String getName();

    /**
     * {@return the complete options of this handle: the options of its group take precedence over the caller's, and
     * these over the registry's}
     */
    LockOptions options();

    /**
     * Acquires the lock. If it is free, one command acquires it. If the current thread holds it, its hold count goes up
     * and no command is sent. If another caller holds it or waits for it, the thread waits in the queue, without limit.
     * An interrupt does not end the wait; its flag is set again on return.
     *
     * @throws LockNotAcquiredException if as many callers of this registry wait as {@link LockOptions#maxWaiting()}
     *     allows
     * @throws LockUnavailableException if Redis is not available when the lock is first requested, or for a whole ttl
     *     during the wait, or the registry is closing
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
     * Acquires the lock if it is free or the current thread holds it. Sends at most one command and does not queue, so
     * it may always fail if there are waiters. An interrupt does not end it; its flag stays set.
     *
     * @return false if another caller holds the lock or waits for it; a waiter that has just given up counts until
     *     Redis has removed it
     * @throws LockUnavailableException if Redis is not available, or grants the lock so late that its lease is over
     */
    @Override
    boolean tryLock();

    /**
     * As {@link #lockInterruptibly()}, but waits at most the given time; zero or less tries once. The wait does not end
     * before the first answer of Redis, which takes at most its command timeout: until then it is unknown whether
     * another caller holds the lock.
     *
     * @return false if the time passed first, or if as many callers of this registry wait as
     *     {@link LockOptions#maxWaiting()} allows
     * @throws InterruptedException if interrupted before or during the wait; the flag is then clear
     * @throws LockUnavailableException if Redis is not available when the lock is first requested
     */
    @Override
    boolean tryLock(long time, TimeUnit unit) throws InterruptedException;

    /**
     * As {@link #tryLock(long, TimeUnit)}, with a lease of its own for the hold that this call acquires. If the current
     * thread already holds the lock, its lease stays as it is.
     *
     * @param wait how long to wait; zero or less tries once
     * @param ttl the lease, at least one second; the handle's options decide whether it is renewed
     * @return false if the time passed first
     * @throws IllegalArgumentException if {@code ttl} is below one second
     * @throws InterruptedException if interrupted before or during the wait; the flag is then clear
     */
    boolean tryLock(Duration wait, Duration ttl) throws InterruptedException;

    /**
     * Gives up one hold of the current thread. The last one releases the lock, and waits for the answer of Redis, at
     * most for the command timeout. Without an answer the method returns normally, and the release is repeated in the
     * background until it is answered. An interrupt does not end that wait; its flag stays set. With
     * {@link DistributedLock.Release#SEND} it does not wait, and a loss that only the answer shows is reported but not
     * thrown.
     *
     * @throws IllegalMonitorStateException if the current thread does not hold the lock
     * @throws LockLostException if the lease ended while the current thread held it; nothing was deleted
     */
    @Override
    void unlock();

    /**
     * Not supported.
     *
     * @throws UnsupportedOperationException always
     */
    @Override
    Condition newCondition();

    /**
     * {@return one of the current thread's holds as an object; closing it on any thread gives up that hold, instead of
     * {@link #unlock()}} The hold still belongs to the thread: it is reentrant, and {@link #getHoldCount()} counts it.
     * Use it for work that ends on a thread that the caller cannot choose, such as a transaction.
     *
     * @throws IllegalMonitorStateException if the current thread does not hold the lock
     * @throws LockLostException if it has lost it
     */
    Lease asLease();

    /**
     * {@return the number of holds of the current thread; 0 if {@link #isHeldByCurrentThread()} is false, which has the
     * effect on the renewal that is described there}
     */
    int getHoldCount();

    /**
     * {@return whether the current thread holds the lock and its lease cannot have run out yet, by either clock of this
     * JVM} Never true once another caller may have the lock. If only the time of day shows that the lease has run out,
     * as after the machine slept, the result is false and the hold is not renewed any more; it may still be released.
     */
    boolean isHeldByCurrentThread();

    /**
     * {@return whether the lock is held; sends a command if no thread of this registry holds it} The answer may be
     * outdated when it arrives: for display and tests, not for decisions.
     *
     * @throws LockUnavailableException if Redis is not available
     */
    boolean isLocked();

    /**
     * {@return the fencing token of the current thread's hold: larger than that of every earlier hold of this name,
     * over a failover of Redis only if the clocks of its servers differ by less than the failover takes} Pass it to the
     * fence of the resource, which refuses tokens smaller than the largest that it has seen. Concurrent shared holds
     * have one token. It is not smaller than the token of the last hold before them that was not shared, and it is
     * smaller than the token of the next such hold.
     *
     * @throws IllegalMonitorStateException if the current thread does not hold the lock
     * @throws LockLostException if it has lost it
     */
    long fencingToken();

    /**
     * {@return how long the current thread's lease lasts for certain unless renewed; zero when it does not hold the
     * lock}
     */
    Duration remainingLease();

    /**
     * Extends the lease of the current thread's hold, as {@link Lease#extend} does. The hold must not be renewed. By
     * default, the method is not supported. Locks of this library support it.
     *
     * @param ttl how long the lease is to last from now on, at least one second
     * @return false if the hold was lost, or has lasted for its maximum hold
     * @throws IllegalArgumentException if {@code ttl} is below one second
     * @throws IllegalMonitorStateException if the current thread does not hold the lock
     * @throws IllegalStateException if the hold is renewed, which keeps it anyway
     * @throws LockUnavailableException if Redis did not answer; the lease is then at least as long as before
     */
    default boolean extend(Duration ttl) {
        throw new UnsupportedOperationException("the lease of this lock cannot be extended: " + this);
    }

    /**
     * Runs a callback once if the current thread's hold is lost. The callback runs on a thread of the registry, and its
     * exceptions are logged.
     *
     * @param callback runs after the loss
     * @throws IllegalMonitorStateException if the current thread does not hold the lock
     * @throws LockLostException if it has lost it already
     */
    void onLost(Runnable callback);
}
