package io.github.lockboot.cache;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import io.github.lockboot.LockLostException;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.LockNames;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.Cache;
import org.springframework.cache.Cache.ValueWrapper;
import org.springframework.cache.support.SimpleValueWrapper;
import org.springframework.util.ReflectionUtils;

/**
 * Advice of one cache: the two methods with a loader are single flights of their key.
 *
 * <p>The loader is run by the same method of the cache itself, and not by a put: the cache decides about null, time to
 * live and failures, and the value is there when the method returns. A put may be delayed until a commit, or sent
 * without waiting for the answer, so that waiters would not find the value. A null in the cache is a wrapper, so it
 * counts as a value.
 */
final class CacheFlight implements MethodInterceptor {

    private final Cache cache;
    private final CacheFlights.Settings settings;
    private final Supplier<LockTemplate> locks;
    private final Object stored;

    /** Of a cache that stores its keys as texts, the method that makes them. */
    private final @Nullable Method textOf;

    CacheFlight(Cache cache, CacheFlights.Settings settings, Supplier<LockTemplate> locks) {
        this.cache = cache;
        this.settings = settings;
        this.locks = locks;
        this.stored = Sharing.target(cache);
        this.textOf = ReflectionUtils.findMethod(stored.getClass(), "createCacheKey", Object.class);
        if (textOf != null) {
            ReflectionUtils.makeAccessible(textOf);
        }
    }

    @Override
    @SuppressWarnings("unchecked")
    public @Nullable Object invoke(MethodInvocation call) throws Throwable {
        @Nullable Object[] arguments = call.getArguments();
        String method = call.getMethod().getName();
        if (method.equals("get") && arguments.length == 2 && arguments[1] instanceof Callable<?> loader) {
            return get(arguments[0], loader);
        }
        return method.equals("retrieve") && arguments.length == 2
                ? retrieve(arguments[0], (Supplier<CompletableFuture<Object>>) arguments[1])
                : call.proceed();
    }

    @SuppressWarnings("NullAway") // the cache may return null
    private @Nullable Object get(Object key, Callable<?> loader) {
        Load<ValueWrapper> load = new Load<>(() -> new SimpleValueWrapper(cache.get(key, loader)));
        String name = nameOf(key);
        try {
            return locks.get()
                    .singleFlight(name, settings.options(), () -> cache.get(key), load::run)
                    .get();
        } catch (RuntimeException failure) {
            return outcome(load, failure).get();
        }
    }

    private CompletableFuture<Object> retrieve(Object key, Supplier<CompletableFuture<Object>> loader) {
        Load<CompletableFuture<ValueWrapper>> load =
                new Load<>(() -> cache.retrieve(key, loader).thenApply(SimpleValueWrapper::new));
        CompletableFuture<ValueWrapper> flight =
                locks.get().singleFlightAsync(nameOf(key), settings.options(), () -> lookUp(key), load::run);
        CompletableFuture<Object> result = new CompletableFuture<>();
        Futures.cancelWith(result, flight)
                .exceptionallyComposeAsync(
                        failure -> Futures.cancelWith(result, outcome(load, Futures.unchecked(failure))),
                        Futures.ELSEWHERE)
                .whenComplete(
                        (value, failure) -> Futures.complete(result, value == null ? null : value.get(), failure));
        return result;
    }

    private CompletableFuture<@Nullable ValueWrapper> lookUp(Object key) {
        CompletableFuture<?> found = cache.retrieve(key);
        return found == null
                ? CompletableFuture.completedFuture(null)
                : found.thenApply(value -> value == null || value instanceof ValueWrapper
                        ? (ValueWrapper) value
                        : new SimpleValueWrapper(value));
    }

    /** {@return the value, if it is loaded, whatever became of the lock since; or that of a loader without the lock} */
    private <T> T outcome(Load<T> load, RuntimeException failure) {
        T loaded = load.result;
        if (loaded != null) {
            return loaded;
        }
        boolean noLock = failure instanceof LockUnavailableException || failure instanceof LockLostException;
        if (load.begun || !settings.loadsWithoutLock() || !noLock) {
            throw failure;
        }
        return load.run();
    }

    /** Instances name a key alike. A digest of two keys that are alike would only cost a wait. */
    private String nameOf(Object key) {
        String name = "cache:"
                + (textOf != null
                        ? ReflectionUtils.invokeMethod(textOf, stored, key)
                        : cache.getName() + ":" + Arrays.deepToString(new Object[] {key}));
        try {
            return LockNames.valid(name);
        } catch (IllegalArgumentException tooLong) {
            return "cache:" + LockNames.digest(name);
        }
    }

    /** The loader, in the cache's own method. */
    private static final class Load<T> {

        private final Supplier<T> work;
        volatile boolean begun;
        volatile @Nullable T result;

        Load(Supplier<T> work) {
            this.work = work;
        }

        T run() {
            begun = true;
            T made = work.get();
            result = made;
            return made;
        }
    }
}
