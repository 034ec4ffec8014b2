package io.github.lockboot;

import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;

import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.LockNames;

/**
 * Where locks come from. Thread-safe.
 *
 * <p>Names are any non-empty, well-formed text of at most {@value #MAX_NAME_LENGTH} characters; locks of two registries on one Redis
 * with one key prefix exclude each other.
 */
public interface LockRegistry {

    /** The longest name accepted, in characters. */
    int MAX_NAME_LENGTH = LockNames.MAX_LENGTH;

    /**
     * {@return the name that {@link DistributedLock} gives a lock: the keys after the name, each after a colon, with a backslash
     * before every colon and backslash in a key} So under one name two different lists of keys never give the same lock, and
     * a single key never gives that of a longer name. A single key without a name stays as it is.
     *
     * @param name literal text; empty for none
     * @param keys texts that may come from anybody
     */
    static String nameOf(String name, String... keys) {
        return LockNames.join(name, keys);
    }

    /**
     * {@return the lock of that name with the registry's own options}
     *
     * @param name of the lock
     * @throws IllegalArgumentException if the name is empty, too long or not well-formed Unicode
     */
    default NamedLock get(String name) {
        return get(name, LockOptions.defaults());
    }

    /**
     * {@return the lock of that name, its holds taken with the given options; what they leave open is the registry's}
     *
     * @param name of the lock
     * @param options how it is held and waited for; what they leave open is the registry's
     * @throws IllegalArgumentException if the name is empty, too long or not well-formed Unicode
     */
    NamedLock get(String name, LockOptions options);

    /**
     * As {@link #allOf(Collection, LockOptions)} with the registry's own options.
     *
     * @param names of the locks, in any order
     * @return one lock for all
     */
    default Lock allOf(Collection<String> names) {
        return allOf(names, LockOptions.defaults());
    }

    /**
     * The locks of those names as one: a thread holds all of them or takes none. They are taken in the natural order of the
     * names, the same for all callers, a name given twice once; so two callers with names in common do not deadlock.
     *
     * <p>{@code lock} waits without limit for each in turn, {@code tryLock(time, unit)} has one deadline for all, and
     * {@code tryLock} asks for each once. Whatever ends the taking, be it another's hold, an interrupt or a failure, those taken
     * before are given back first. When a lease runs out while another of the locks is waited for, they are all released and
     * taken again. Taken again by the same thread, each counts up.
     *
     * <p>{@code unlock} gives all back, in reverse order, also if one of them was lost, and then throws its
     * {@link LockLostException}; if several went wrong the others are suppressed exceptions of the first. Conditions are not
     * offered. Each lock can be asked for its token and lease by {@link #get(String)}.
     *
     * @param names of the locks, in any order
     * @param options how it is held and waited for; what they leave open is the registry's
     * @return one lock for all
     * @throws IllegalArgumentException if there are no names, or one of them is empty, too long or not well-formed
     *     Unicode
     */
    default Lock allOf(Collection<String> names, LockOptions options) {
        return MultiLock.of(this, names, options);
    }

    /**
     * As {@link #acquire(String, LockOptions)} with the registry's own options.
     *
     * @param name of the lock
     * @return the lease, held
     * @throws InterruptedException if interrupted before or during the wait; nothing is held then
     */
    default Lease acquire(String name) throws InterruptedException {
        return acquire(name, LockOptions.defaults());
    }

    /**
     * Acquires a lease, waiting at most the options' wait time.
     *
     * @param name of the lock
     * @param options how it is held and waited for; what they leave open is the registry's
     * @return the lease, held
     * @throws LockNotAcquiredException if another held it until the wait ended
     * @throws LockUnavailableException if Redis could not be asked at the first attempt
     * @throws InterruptedException if interrupted before or during the wait; nothing is held then
     */
    default Lease acquire(String name, LockOptions options) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return Futures.await(acquireAsync(name, options));
    }

    /**
     * As {@link #tryAcquire(String, LockOptions)} with the registry's own options.
     *
     * @param name of the lock
     * @return the lease, or nothing if another held the lock
     * @throws InterruptedException if interrupted before or during the wait; nothing is held then
     */
    default Optional<Lease> tryAcquire(String name) throws InterruptedException {
        return tryAcquire(name, LockOptions.defaults());
    }

    /**
     * As {@link #acquire(String, LockOptions)}, but empty instead of {@link LockNotAcquiredException}.
     *
     * @param name of the lock
     * @param options how it is held and waited for; what they leave open is the registry's
     * @return the lease, or nothing if another held the lock
     * @throws LockUnavailableException if Redis could not be asked at the first attempt
     * @throws InterruptedException if interrupted before or during the wait; nothing is held then
     */
    default Optional<Lease> tryAcquire(String name, LockOptions options) throws InterruptedException {
        try {
            return Optional.of(acquire(name, options));
        } catch (LockNotAcquiredException held) {
            return Optional.empty();
        }
    }

    /**
     * As {@link #acquireAsync(String, LockOptions)} with the registry's own options.
     *
     * @param name of the lock
     * @return completes on a thread of the registry with the lease, or exceptionally
     */
    default CompletableFuture<Lease> acquireAsync(String name) {
        return acquireAsync(name, LockOptions.defaults());
    }

    /**
     * Acquires a lease without blocking a thread. Cancelling the future leaves the queue; a lease granted to a future that
     * was cancelled is released.
     *
     * @param name of the lock
     * @param options how it is held and waited for; what they leave open is the registry's
     * @return completes on a thread of the registry with the lease, or exceptionally with {@link LockNotAcquiredException}
     *     or {@link LockUnavailableException}
     */
    CompletableFuture<Lease> acquireAsync(String name, LockOptions options);

    /**
     * Adds a listener for locks that are asked for from now on. The registries of this library call it; another may ignore it.
     *
     * @param listener called after those that were added before
     */
    default void addListener(LockListener listener) {}
}
