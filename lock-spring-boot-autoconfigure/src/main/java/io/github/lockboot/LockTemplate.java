package io.github.lockboot;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Runs actions under a named lock; no action ever runs without it. Thread-safe.
 *
 * <p>{@link #execute} throws an exception if another caller holds the lock, {@link #tryExecute} returns the refusal,
 * {@link #executeAsync} blocks no thread. Each has the wait time of its options; zero tries once. With
 * {@link #singleFlight}, one caller loads a value that several need at the same time.
 */
public class LockTemplate {

    private final LockRegistry registry;
    private final @Nullable Duration waitTime;

    /** @param registry makes the locks */
    public LockTemplate(LockRegistry registry) {
        this.registry = registry;
        this.waitTime = null;
    }

    /**
     * @param registry makes the locks
     * @param waitTime for options without a wait time, instead of the registry's
     * @throws IllegalArgumentException if the wait time is negative
     */
    public LockTemplate(LockRegistry registry, Duration waitTime) {
        this.registry = registry;
        this.waitTime = LockOptions.defaults().withWaitTime(waitTime).waitTime();
    }

    /** {@return the registry that makes the locks} */
    public LockRegistry registry() {
        return registry;
    }

    /** {@return the wait time for options without one; null for the registry's} */
    public @Nullable Duration waitTime() {
        return waitTime;
    }

    /**
     * {@return what the action returned} As {@link #execute(String, LockOptions, Action)} with the default options.
     *
     * @param <T> what the action returns
     * @param <E> what the action throws
     * @param name of the lock
     * @param action the action to run
     * @throws E what the action throws
     */
    public <T extends @Nullable Object, E extends Throwable> T execute(String name, Action<T, E> action) throws E {
        return execute(name, LockOptions.defaults(), action);
    }

    /**
     * Runs the action while the current thread holds the lock. If the thread holds it already, its count goes up.
     *
     * @param <T> what the action returns
     * @param <E> what the action throws
     * @param name of the lock
     * @param options how it is held and waited for; the registry's options apply where they are not set
     * @param action the action to run
     * @return what the action returned
     * @throws LockNotAcquiredException if another caller held the lock until the wait ended, or the thread was
     *     interrupted before or during the wait; its flag is then set again
     * @throws LockUnavailableException if Redis is not available
     * @throws LockLostException if the action returned but the lock was lost while it ran
     * @throws E what the action throws; a failure of the release is a suppressed exception of it
     */
    public <T extends @Nullable Object, E extends Throwable> T execute(
            String name, LockOptions options, Action<T, E> action) throws E {
        return tryExecute(name, options, action).get();
    }

    /**
     * As {@link #executeWithoutResult(String, LockOptions, Runnable)} with the default options.
     *
     * @param name of the lock
     * @param action the action to run
     */
    public void executeWithoutResult(String name, Runnable action) {
        executeWithoutResult(name, LockOptions.defaults(), action);
    }

    /**
     * As {@link #execute(String, LockOptions, Action)} for an action without a result.
     *
     * @param name of the lock
     * @param options how it is held and waited for; the registry's options apply where they are not set
     * @param action the action to run
     */
    public void executeWithoutResult(String name, LockOptions options, Runnable action) {
        execute(name, options, () -> {
            action.run();
            return true;
        });
    }

    /**
     * {@return the outcome} As {@link #tryExecute(String, LockOptions, Action)} with the default options.
     *
     * @param <T> what the action returns
     * @param <E> what the action throws
     * @param name of the lock
     * @param action the action to run
     * @throws E what the action throws
     */
    public <T extends @Nullable Object, E extends Throwable> Attempt<T> tryExecute(String name, Action<T, E> action)
            throws E {
        return tryExecute(name, LockOptions.defaults(), action);
    }

    /**
     * As {@link #execute(String, LockOptions, Action)}, but returns a refusal if another caller holds the lock.
     *
     * @param <T> what the action returns
     * @param <E> what the action throws
     * @param name of the lock
     * @param options how it is held and waited for; the registry's options apply where they are not set
     * @param action the action to run
     * @return what the action returned, or that it did not run because another caller held the lock
     * @throws LockNotAcquiredException if the thread was interrupted, or if the action throws it
     * @throws E what the action throws
     */
    public <T extends @Nullable Object, E extends Throwable> Attempt<T> tryExecute(
            String name, LockOptions options, Action<T, E> action) throws E {
        HeldLocks held = HeldLocks.acquire(wanted(name, options, false));
        LockNotAcquiredException refusal = held.refusal();
        @Nullable T result = refusal != null ? null : held.runAndRelease(() -> held.call(null, action::run));
        return new Attempt<>(result, refusal);
    }

    /**
     * {@return completes with what the stage does} As {@link #executeAsync(String, LockOptions, Supplier)} with the
     * default options.
     *
     * @param <T> what the stage completes with
     * @param name of the lock
     * @param action starts the work
     */
    public <T extends @Nullable Object> CompletableFuture<T> executeAsync(
            String name, Supplier<? extends CompletionStage<T>> action) {
        return executeAsync(name, LockOptions.defaults(), action);
    }

    /**
     * Starts the action once the lock is acquired, and holds the lock until the stage that the action returned
     * completes or fails. Does not block the caller, and does not use the common pool. The hold belongs to this call,
     * not to a thread, and is not reentrant.
     *
     * <p>Cancelling the future ends the wait, or cancels the stage if that is a {@link java.util.concurrent.Future},
     * and releases the lock: work that ignores the cancellation continues without it.
     *
     * @param <T> what the stage completes with
     * @param name of the lock
     * @param options how it is held and waited for; the registry's options apply where they are not set
     * @param action starts the work; it runs on a thread of the registry, or on the caller's if the lock is granted at
     *     once
     * @return completes after the release, with the result or the failure of the stage or the action, or exceptionally
     *     as {@link #execute(String, LockOptions, Action)}
     * @throws IllegalArgumentException if the name is empty, too long or not well-formed Unicode
     */
    public <T extends @Nullable Object> CompletableFuture<T> executeAsync(
            String name, LockOptions options, Supplier<? extends CompletionStage<T>> action) {
        return HeldLocks.runAndReleaseAsync(HeldLocks.acquireAsync(wanted(name, options, true)), held -> {
            LockNotAcquiredException refusal = held.refusal();
            if (refusal != null) {
                throw refusal;
            }
            return held.<CompletionStage<T>, RuntimeException>call(null, action::get);
        });
    }

    /**
     * {@return the cached or loaded value} As {@link #singleFlight(String, LockOptions, Action, Action)} with the
     * default options.
     *
     * @param <T> the type of the value
     * @param <E> what {@code cached} and {@code load} throw
     * @param name of the lock
     * @param cached reads the cache
     * @param load loads the value
     * @throws E what {@code cached} and {@code load} throw
     */
    public <T, E extends Throwable> T singleFlight(String name, Action<@Nullable T, E> cached, Action<T, E> load)
            throws E {
        return singleFlight(name, LockOptions.defaults(), cached, load);
    }

    /**
     * Loads a value once, even if many callers of all instances need it at the same time. They share a cache, which
     * {@code cached} reads. If the value is not there, the first caller acquires the lock of that name and runs
     * {@code load}. The others wait for the lock. Once the value is loaded, they are notified, read the cache again,
     * all at once, and cancel their wait.
     *
     * <pre>{@code
     * Token token = template.singleFlight("token:" + app, () -> cache.get(app), () -> cache.put(app, api.fetchToken(app)));
     * }</pre>
     *
     * <p>If {@code load} fails, its caller gets the exception and one of the others acquires the lock. If the loading
     * caller dies, the same happens when its lease ends. A caller that still finds the cache empty waits on, until its
     * wait time is over; zero tries once. If a notification is lost, a caller acquires the lock in its turn and finds
     * the value then.
     *
     * <p>The lock is {@link LockRegistry#get get(name)}, so other code that locks this name is excluded as well. It is
     * not reentrant: neither {@code load} nor code that holds the lock may start a flight of that name.
     *
     * @param <T> the type of the value
     * @param <E> what {@code cached} and {@code load} throw
     * @param name of the lock
     * @param options how it is held and waited for; the registry's options apply where they are not set
     * @param cached reads the cache, and returns null if the value is not there; called with and without the lock
     * @param load loads the value and puts it into the cache
     * @return the value that {@code cached} found or {@code load} returned
     * @throws NullPointerException if {@code load} returned null
     * @throws LockNotAcquiredException if the value was not there when the wait ended, or the thread was interrupted
     *     before or during the wait; its flag is then set again
     * @throws LockUnavailableException if Redis is not available
     * @throws LockLostException if {@code load} returned but the lock was lost while it ran
     * @throws E what {@code cached} and {@code load} throw
     */
    public <T, E extends Throwable> T singleFlight(
            String name, LockOptions options, Action<@Nullable T, E> cached, Action<T, E> load) throws E {
        return new SingleFlight(registry, name, withWaitTime(options)).run(cached::run, load::run);
    }

    /**
     * {@return completes with the cached or loaded value} As {@link #singleFlightAsync(String, LockOptions, Supplier,
     * Supplier)} with the default options.
     *
     * @param <T> the type of the value
     * @param name of the lock
     * @param cached reads the cache
     * @param load loads the value
     */
    public <T> CompletableFuture<T> singleFlightAsync(
            String name,
            Supplier<? extends CompletionStage<@Nullable T>> cached,
            Supplier<? extends CompletionStage<T>> load) {
        return singleFlightAsync(name, LockOptions.defaults(), cached, load);
    }

    /**
     * As {@link #singleFlight(String, LockOptions, Action, Action)}, but does not block the caller. The lock is held
     * until the stage of {@code load} completes or fails. Cancelling the future ends the wait, or cancels the stage of
     * {@code load} if that is a {@link java.util.concurrent.Future}; a load that is cancelled has failed.
     *
     * @param <T> the type of the value
     * @param name of the lock
     * @param options how it is held and waited for; the registry's options apply where they are not set
     * @param cached reads the cache; its stage completes with null if the value is not there
     * @param load loads the value; its stage completes when it is in the cache
     * @return completes with what {@link #singleFlight(String, LockOptions, Action, Action)} returns or throws
     */
    public <T> CompletableFuture<T> singleFlightAsync(
            String name,
            LockOptions options,
            Supplier<? extends CompletionStage<@Nullable T>> cached,
            Supplier<? extends CompletionStage<T>> load) {
        return new SingleFlight(registry, name, withWaitTime(options)).start(cached, load);
    }

    private LockOptions withWaitTime(LockOptions options) {
        return options.waitTime() != null || waitTime == null ? options : options.withWaitTime(waitTime);
    }

    private List<LockContext> wanted(String name, LockOptions options, boolean leased) {
        NamedLock lock = LockRuntime.get(registry, name, withWaitTime(options));
        return List.of(
                HeldLocks.wanted(lock, leased ? wait -> LockRuntime.acquireAsync(registry, lock, wait) : null, null));
    }

    /**
     * An action to run under the lock.
     *
     * @param <T> what it returns
     * @param <E> what it throws
     */
    @FunctionalInterface
    public interface Action<T extends @Nullable Object, E extends Throwable> {

        /**
         * Runs while the lock is held.
         *
         * @return what the caller gets
         * @throws E if it fails; the caller gets it
         */
        T run() throws E;
    }

    /**
     * What the action returned, or that the lock was not acquired.
     *
     * @param <T> what the action returns
     */
    public static final class Attempt<T extends @Nullable Object> {

        private final @Nullable T result;
        private final @Nullable LockNotAcquiredException refusal;

        private Attempt(@Nullable T result, @Nullable LockNotAcquiredException refusal) {
            this.result = result;
            this.refusal = refusal;
        }

        /** {@return whether the lock was acquired and the action ran} */
        public boolean isAcquired() {
            return refusal == null;
        }

        /**
         * {@return what the action returned}
         *
         * @throws LockNotAcquiredException if it did not run
         */
        public T get() {
            return orElseThrow(failure -> failure);
        }

        /**
         * {@return what the action returned, or the other value if it did not run}
         *
         * @param other what to return if it did not run
         */
        public T orElse(T other) {
            return isAcquired() ? result() : other;
        }

        /**
         * {@return what the action returned}
         *
         * @param <X> what is thrown
         * @param failure makes the exception to throw if the action did not run, from the one that {@link #get} would
         *     throw
         * @throws X if it did not run
         */
        public <X extends Throwable> T orElseThrow(Function<? super LockNotAcquiredException, ? extends X> failure)
                throws X {
            if (refusal != null) {
                throw failure.apply(refusal);
            }
            return result();
        }

        @SuppressWarnings("NullAway") // without a refusal there is a result, which is null only if T may be
        private T result() {
            return result;
        }

        @Override
        public String toString() {
            return refusal == null ? "Attempt[" + result + "]" : "Attempt[not acquired]";
        }
    }
}
