package io.github.lockboot;

import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;

/**
 * Where locks come from. Thread-safe.
 *
 * <p>Names are any non-empty, well-formed text of at most {@value #MAX_NAME_LENGTH} characters; locks of two registries on one Redis
 * with one key prefix exclude each other.
 */
public interface LockRegistry {

    /** The longest name accepted, in characters. */
    int MAX_NAME_LENGTH = 1024;

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
     * The options as a lock is taken with them: what is configured for their {@linkplain LockOptions#group() group} comes first
     * ({@code lock.locks.<group>} in {@code application.yml}). Every method here that is given options does this itself; it
     * is for those who must know the wait time before they wait. A registry that wraps another passes it on.
     *
     * @param options as the caller has them
     * @return the options with what is configured
     */
    default LockOptions configured(LockOptions options) {
        return options;
    }

    /**
     * As {@link #getAll(Collection, LockOptions)} with the registry's own options.
     *
     * @param names of the locks, in any order
     * @return one lock for all
     */
    default Lock getAll(Collection<String> names) {
        return getAll(names, LockOptions.defaults());
    }

    /**
     * The locks of those names as one: a thread holds all of them or takes none. They are taken in the natural order of the
     * names, the same for all callers, a name given twice once; so two callers with names in common do not deadlock.
     *
     * <p>{@code lock} waits without limit for each in turn, {@code tryLock(time, unit)} has one deadline for all, and
     * {@code tryLock} asks for each once. Whatever ends the taking, be it another's hold, an interrupt or a failure, those taken
     * before are given back first. When a lease runs out while another of the locks is waited for, they are all given back and
     * taken anew. Taken again by the same thread, each counts up.
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
    default Lock getAll(Collection<String> names, LockOptions options) {
        return LockSet.of(this, names, options);
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
    Lease acquire(String name, LockOptions options) throws InterruptedException;

    /**
     * As {@link #acquire}, but empty instead of {@link LockNotAcquiredException}.
     *
     * @param name of the lock
     * @param options how it is held and waited for; what they leave open is the registry's
     * @return the lease, or nothing if another held the lock
     * @throws LockUnavailableException if Redis could not be asked at the first attempt
     * @throws InterruptedException if interrupted before or during the wait; nothing is held then
     */
    Optional<Lease> tryAcquire(String name, LockOptions options) throws InterruptedException;

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
     * Has the listener told what becomes of locks that are asked for from now on. A registry that tells nobody ignores it;
     * those of this library do not.
     *
     * @param listener told, after those that were added before
     */
    default void addListener(LockListener listener) {}

    /**
     * As {@link #acquireAsync}, but the wait also ends, with nothing, when a holder of that lock calls
     * {@link Lease#complete}: what it was wanted for has then been done. It may be empty for a holder that completed shortly
     * before, so look whether it is done. {@link LockTemplate#singleFlight} is made of this.
     *
     * <p>Here every wait ends with a lease, which is correct too: whoever gets it finds that it is done.
     *
     * @param name of the lock
     * @param options how it is held and waited for; what they leave open is the registry's
     * @return completes on a thread of the registry, which many may share: what depends on it must not block
     */
    default CompletableFuture<Optional<Lease>> acquireOrFollowAsync(String name, LockOptions options) {
        CompletableFuture<Lease> acquiring = acquireAsync(name, options);
        CompletableFuture<Optional<Lease>> answer = new CompletableFuture<>();
        acquiring.whenComplete((lease, failure) -> {
            if (failure != null) {
                answer.completeExceptionally(failure);
            } else if (!answer.complete(Optional.of(lease))) {
                lease.close();
            }
        });
        answer.whenComplete((lease, failure) -> acquiring.cancel(false));
        return answer;
    }
}
