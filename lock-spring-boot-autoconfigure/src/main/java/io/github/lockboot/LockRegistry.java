package io.github.lockboot;

import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.Mocks;

/**
 * Makes locks. Thread-safe.
 *
 * <p>A name is any non-empty, well-formed text of at most {@value #MAX_NAME_LENGTH} characters. Locks of two registries
 * on one Redis with the same key prefix exclude each other.
 */
public interface LockRegistry {

    /** The longest name accepted, in characters. */
    int MAX_NAME_LENGTH = LockNames.MAX_LENGTH;

    /**
     * {@return the name that {@link DistributedLock} gives a lock: the keys after the name, each after a colon, with a
     * backslash before every colon and backslash in a key} So two different lists of keys under one name never give the
     * same lock, and a single key never gives the lock of a longer name. Without a name a single key stays unchanged,
     * and the first of several keys takes the place of the name.
     *
     * @param name literal text; empty for none, if users choose none of the keys
     * @param keys texts that users may choose
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
     * {@return the lock of that name with the given options} Two handles of one registry for one name are equal if mode
     * and permits are the same, whatever their other options.
     *
     * @param name of the lock
     * @param options how it is held and waited for; the registry's options apply where they are not set
     * @throws IllegalArgumentException if the name is empty, too long or not well-formed Unicode, or the options have
     *     more permits than a lock may have holders
     */
    NamedLock get(String name, LockOptions options);

    /**
     * {@return the read-write lock of that name} As {@link #readWrite(String, LockOptions)} with the registry's own
     * options.
     *
     * @param name of the lock
     */
    default NamedReadWriteLock readWrite(String name) {
        return readWrite(name, LockOptions.defaults());
    }

    /**
     * {@return the read-write lock of that name: its write side is {@code get(name, options)}, and its read side
     * {@code get(name, options.shared())}}
     *
     * @param name of the lock
     * @param options how both sides are held and waited for; the registry's options apply where they are not set
     * @throws IllegalArgumentException if the options are shared or have permits, permits are configured for their
     *     group, or the name is empty, too long or not well-formed Unicode
     */
    default NamedReadWriteLock readWrite(String name, LockOptions options) {
        record Sides(NamedLock readLock, NamedLock writeLock) implements NamedReadWriteLock {}

        options.requireExclusive("be left out for a read-write lock, which has a side of each mode");
        return new Sides(get(name, options.shared()), get(name, options));
    }

    /**
     * {@return one lock for all} As {@link #allOf(Collection, LockOptions)} with the registry's own options.
     *
     * @param names of the locks, in any order
     */
    default MultiLock allOf(Collection<String> names) {
        return allOf(names, LockOptions.defaults());
    }

    /**
     * {@return one lock for all: a thread holds all of them or none, all in the mode of the options} If all are free,
     * they are acquired in one round trip for each 256. Otherwise they are acquired in the natural order of the names,
     * each name once, so two callers with names in common do not deadlock. If the thread holds one already, its count
     * goes up.
     *
     * <p>{@code lock} waits without limit for each in turn, {@code tryLock(time, unit)} has one deadline for all, and
     * {@code tryLock} tries each once. After contention, an interrupt or a failure, those acquired before are released.
     * If a lease runs out during the wait for another lock, all are released and acquired again.
     *
     * <p>{@code unlock} releases all in reverse order. If one of them was lost it then throws that
     * {@link LockLostException}; further failures are suppressed exceptions of the first. Conditions are not supported.
     * For token and lease of a lock use {@link #get(String)}.
     *
     * @param names of the locks, in any order
     * @param options how they are held; the registry's options apply where they are not set
     * @throws IllegalArgumentException if there are no names, or one of them is empty, too long or not well-formed
     *     Unicode
     */
    default MultiLock allOf(Collection<String> names, LockOptions options) {
        return MultiLock.of(names, name -> Mocks.nonNull(get(name, options), Mocks.NO_LOCK));
    }

    /**
     * {@return the lease, held} As {@link #acquire(String, LockOptions)} with the registry's own options.
     *
     * @param name of the lock
     * @throws InterruptedException if interrupted before or during the wait; nothing is held then
     */
    default Lease acquire(String name) throws InterruptedException {
        return acquire(name, LockOptions.defaults());
    }

    /**
     * {@return the lease, held; waits at most the options' wait time}
     *
     * @param name of the lock
     * @param options how it is held and waited for; the registry's options apply where they are not set
     * @throws LockNotAcquiredException if another caller held the lock until the wait ended
     * @throws LockUnavailableException if Redis is not available when the lock is first requested
     * @throws InterruptedException if interrupted before or during the wait; nothing is held then
     */
    default Lease acquire(String name, LockOptions options) throws InterruptedException {
        return Futures.await(() -> acquireAsync(name, options));
    }

    /**
     * {@return the lease, or empty} As {@link #tryAcquire(String, LockOptions)} with the registry's own options.
     *
     * @param name of the lock
     * @throws InterruptedException if interrupted before or during the wait; nothing is held then
     */
    default Optional<Lease> tryAcquire(String name) throws InterruptedException {
        return tryAcquire(name, LockOptions.defaults());
    }

    /**
     * {@return the lease, or empty if another caller held the lock until the wait ended} Otherwise as
     * {@link #acquire(String, LockOptions)}.
     *
     * @param name of the lock
     * @param options how it is held and waited for; the registry's options apply where they are not set
     * @throws LockUnavailableException if Redis is not available when the lock is first requested
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
     * {@return the future lease} As {@link #acquireAsync(String, LockOptions)} with the registry's own options.
     *
     * @param name of the lock
     */
    default CompletableFuture<Lease> acquireAsync(String name) {
        return acquireAsync(name, LockOptions.defaults());
    }

    /**
     * Acquires a lease without blocking a thread. Cancelling the future ends the wait, and releases a lease that is
     * granted too late.
     *
     * @param name of the lock
     * @param options how it is held and waited for; the registry's options apply where they are not set
     * @return completes on a thread of the registry with the lease, or exceptionally with
     *     {@link LockNotAcquiredException} or {@link LockUnavailableException}
     */
    CompletableFuture<Lease> acquireAsync(String name, LockOptions options);

    /**
     * {@return the lease, held} As {@link #takeOver(String, LockOptions)} with the registry's own options.
     *
     * @param handedOver the text that {@link Lease#handOver()} has returned
     * @throws InterruptedException if interrupted before or during the call; nothing is held then
     */
    default Lease takeOver(String handedOver) throws InterruptedException {
        return takeOver(handedOver, LockOptions.defaults());
    }

    /**
     * Takes over a lease that this or another process has transferred by {@link Lease#handOver()}. The lease keeps its
     * fencing token. If several calls pass the same text, one of them gets the lease.
     *
     * <p>Sends one command. If Redis does not answer, the command is repeated until the wait time of the options is
     * over. A call that then fails, or is interrupted, releases the lock if Redis has given it the lease.
     *
     * <p>By default, the method is not supported. Registries of this library support it.
     *
     * @param handedOver the text that {@link Lease#handOver()} has returned
     * @param options how the lease is held from now on; it has permits if the lease had
     * @return the lease, held
     * @throws LockLostException if another call has taken it over, or its lease ran out before
     * @throws LockUnavailableException if Redis did not answer
     * @throws IllegalArgumentException if the text is not one of a lease, or the options have permits and the lease had
     *     none, or the other way round
     * @throws InterruptedException if interrupted before or during the call; nothing is held then
     */
    default Lease takeOver(String handedOver, LockOptions options) throws InterruptedException {
        throw new UnsupportedOperationException("this registry cannot take over a lease: " + this);
    }

    /**
     * Adds a listener for locks that are requested from now on, unless it has been added before. A registry of the
     * application may ignore it.
     *
     * @param listener called after the listeners that were added before
     */
    default void addListener(LockListener listener) {}
}
