package io.github.lockboot;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.internal.Futures;

/**
 * A hold that belongs to this object, not to a thread: for asynchronous results, reactive code and work that changes threads.
 * Not reentrant: acquiring the same name again is a request like any other, even on the same thread.
 *
 * <p>It is renewed, can be lost and carries a fencing token like every hold (see {@link NamedLock}). All methods may be
 * called from any thread.
 */
public interface Lease extends AutoCloseable {

    /** {@return the name of the lock} */
    String name();

    /** {@return the fencing token, as {@link NamedLock#fencingToken()}; also after the end} */
    long fencingToken();

    /**
     * {@return whether the lease is held and cannot have run out yet, by either clock of this JVM} False while the time of day
     * alone shows that it has run out, as after the machine slept; true again once Redis has confirmed it.
     */
    boolean isValid();

    /** {@return how long the lease lasts for certain unless renewed; zero once closed or lost} */
    Duration remainingLease();

    /**
     * Runs a callback once if the lease is lost, at once if that has happened already, on a thread of the registry; what it throws
     * is logged.
     *
     * @param callback runs after the loss
     */
    void onLost(Runnable callback);

    /**
     * Releases the lock, and waits for the answer of Redis at most its command timeout; an interrupt does not end that wait. With
     * {@link DistributedLock.Release#SEND} it does not wait, and a loss that the answer shows is only reported.
     * Closing again does nothing.
     *
     * @throws LockLostException if the lease was lost before; nothing was deleted
     */
    @Override
    void close();

    /**
     * Releases the lock after the delay, without blocking a thread. Until then it is held and renewed as before, but without a
     * {@link LockOptions#maxHold()}. If this process ends first, the lock ends with its ttl.
     *
     * <p>The lease of {@link NamedLock#asLease} is a hold of its thread until it is closed, with its maxHold, and also if it is lost.
     *
     * <p>Cancelling the future does not cancel the release.
     *
     * @param delay until the release; zero or less for now
     * @return completes when the lock has been released, or the release sent if it is not awaited, which is earlier if it is closed
     *     before the delay has passed, or when the registry is closed, which leaves the lock to its ttl; exceptionally with
     *     {@link LockLostException} if it was lost before
     */
    default CompletableFuture<Void> closeAfter(Duration delay) {
        Executor whenDue = delay.isNegative() || delay.isZero()
                ? Futures.ELSEWHERE
                : Futures.elsewhereAfter(TimeUnit.NANOSECONDS.convert(delay));
        return CompletableFuture.runAsync(this::close, whenDue).copy();
    }
}
