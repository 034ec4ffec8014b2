package io.github.lockboot;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.internal.Futures;

/**
 * A hold that belongs to this object, not to a thread: for asynchronous results, reactive code and work that changes
 * threads. Not reentrant: acquiring the same name again is a request like any other, even on the same thread.
 *
 * <p>It is renewed, can be lost and carries a fencing token like every hold (see {@link NamedLock}). All methods may be
 * called from any thread.
 *
 * <p>Keep a reference to it until it is closed. A lease that is no longer referenced is no longer renewed, so it is
 * lost within its ttl.
 */
public interface Lease extends AutoCloseable {

    /** {@return the name of the lock} */
    String name();

    /** {@return the fencing token, as {@link NamedLock#fencingToken()}; also after the end} */
    long fencingToken();

    /**
     * {@return whether the lease is held and cannot have run out yet, by either clock of this JVM} False while the time
     * of day alone shows that it has run out, as after the machine slept; true again once Redis has confirmed it.
     */
    boolean isValid();

    /** {@return how long the lease lasts for certain unless renewed; zero once closed or lost} */
    Duration remainingLease();

    /**
     * Extends a lease that is not renewed, so that it lasts for this time from now on. Never shortens it, and never
     * beyond the {@link LockOptions#maxHold() maximum hold}. Sends one command and waits for the answer at most its
     * command timeout; an interrupt does not end that wait.
     *
     * <p>By default, the method is not supported. Leases of this library support it.
     *
     * @param ttl how long the lease is to last from now on, at least one second
     * @return false if the lease was closed or lost, or has lasted for its maximum hold
     * @throws IllegalArgumentException if {@code ttl} is below one second
     * @throws IllegalStateException if the lease is renewed, which keeps it anyway
     * @throws LockUnavailableException if Redis did not answer; the lease is then at least as long as before
     */
    default boolean extend(Duration ttl) {
        throw new UnsupportedOperationException("this lease cannot be extended: " + this);
    }

    /**
     * Transfers the lease to another process, without releasing the lock. The process that passes the text to
     * {@link LockRegistry#takeOver} gets the lease, with the same fencing token. From this call on, the lease is not
     * valid here and is not renewed. The lock stays held for the ttl. If no process takes the lease over by then, the
     * lock is released. Treat the text as a password: any process that has it can take over the lease.
     *
     * <p>Sends one command and waits for the answer at most its command timeout; an interrupt does not end that wait.
     * By default, the method is not supported. Leases of this library support it, unless they belong to a thread.
     *
     * @return the text, which contains the name of the lock
     * @throws LockLostException if the lease was lost before
     * @throws IllegalStateException if the lease is shared, or closed
     * @throws LockUnavailableException if Redis did not answer; the lease has ended all the same, and the lock becomes
     *     free within the ttl
     */
    default String handOver() {
        throw new UnsupportedOperationException("this lease cannot be transferred: " + this);
    }

    /**
     * Runs a callback once if the lease is lost, or at once if it has already been lost. The callback runs on a thread
     * of the registry, and its exceptions are logged. A callback does not keep the lease alive.
     *
     * @param callback runs after the loss
     */
    void onLost(Runnable callback);

    /**
     * Runs a callback once if others wait for the lock, so that a long holder can end early: at once if they already
     * wait. The callback runs on a thread of the registry, and its exceptions are logged. A callback does not keep the
     * lease alive.
     *
     * <p>Nothing is sent for it. Callers of this registry are known at once. Others are known when Redis notifies this
     * registry or answers a renewal, so a lease that is not renewed may not hear of them. They may have left again by
     * then.
     *
     * <p>By default, the method is not supported. Leases of this library support it.
     *
     * @param callback runs when others wait, unless the lease has ended
     */
    default void onOthersWait(Runnable callback) {
        throw new UnsupportedOperationException("this lease cannot tell who waits: " + this);
    }

    /**
     * Releases the lock, and waits for the answer of Redis at most its command timeout; an interrupt does not end that
     * wait. With {@link DistributedLock.Release#SEND} it does not wait, and a loss that the answer shows is only
     * reported. Closing it again does nothing.
     *
     * @throws LockLostException if the lease was lost before; nothing was deleted
     */
    @Override
    void close();

    /**
     * Ends the hold now, and keeps the lock for the delay. The store releases the lock when the delay is over,
     * regardless of the ttl, even if this process has ended by then. Nothing is renewed. From this call on, the lease
     * is not valid, and closing it again does nothing. Does not block.
     *
     * <p>If several readers of this registry, or several holds of one thread, share one lease of the store, the delay
     * begins when the last one ends, and the longest delay of all of them applies.
     *
     * <p>Leases of this library behave so. By default, the method closes the lease after the delay, in this process.
     *
     * <p>Cancelling the future changes nothing.
     *
     * @param delay how long the lock is kept; zero or less releases it now
     * @return completes when the store has answered, when the command has been sent if the release is not awaited, or
     *     when the registry is closed; exceptionally with {@link LockLostException} if the lease was lost before, and
     *     then the lock is not kept
     */
    default CompletableFuture<Void> closeAfter(Duration delay) {
        Executor whenDue = delay.isNegative() || delay.isZero()
                ? Futures.ELSEWHERE
                : Futures.elsewhereAfter(TimeUnit.NANOSECONDS.convert(delay));
        return CompletableFuture.runAsync(this::close, whenDue).copy();
    }
}
