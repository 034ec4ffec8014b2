package io.github.lockboot;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.github.lockboot.HeldLocks.Body;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/**
 * One caller of a flight. If the value is not in the cache, it requests the lock of that name. While it waits, it reads
 * the cache whenever the value is announced, and cancels its request if it finds it. With the lock it reads the cache
 * once more, because another caller may have loaded it just before, then loads, announces the value and releases.
 */
final class SingleFlight {

    private final LockRegistry registry;
    private final String name;
    private final LockOptions options;
    private final long since = Timer.systemNanoTime();

    /** Done when the value has been announced since the waiting thread last read the cache. */
    private volatile CompletableFuture<@Nullable Void> news = new CompletableFuture<>();

    SingleFlight(LockRegistry registry, String name, LockOptions options) {
        this.registry = registry;
        this.name = name;
        this.options = options;
    }

    // --- on the calling thread --------------------------------------------------------------------------------

    <T, E extends Throwable> T run(Body<@Nullable T, E> cached, Body<T, E> load) throws E {
        T value = cached.run();
        return value != null ? value : follow(request(), cached, load);
    }

    private CompletableFuture<Lease> request() {
        if (Thread.interrupted()) {
            throw interrupted(new InterruptedException());
        }
        return LockRuntime.acquireAsync(registry, lock(), left());
    }

    private <T, E extends Throwable> T follow(
            CompletableFuture<Lease> request, Body<@Nullable T, E> cached, Body<T, E> load) throws E {
        T value;
        try {
            value = awaitValueOrLock(request, cached);
        } catch (Throwable failure) {
            giveUp(request);
            throw failure;
        }
        if (value == null) {
            return lead(request.join(), cached, load);
        }
        giveUp(request).join();
        return value;
    }

    /** {@return null once the lock is granted} */
    private <T, E extends Throwable> @Nullable T awaitValueOrLock(
            CompletableFuture<Lease> request, Body<@Nullable T, E> cached) throws E {
        Runnable listening = listen(() -> news.complete(null));
        try {
            T value = null;
            while (value == null && !isGranted(request)) {
                value = cached.run();
            }
            return value;
        } finally {
            listening.run();
        }
    }

    /** Waits for the lock or an announcement. */
    private boolean isGranted(CompletableFuture<Lease> request) {
        try {
            Futures.await(CompletableFuture.anyOf(request, news));
            news = new CompletableFuture<>();
            boolean granted = request.isDone();
            if (granted) {
                Futures.await(request); // throws what it failed with
            }
            return granted;
        } catch (InterruptedException interrupt) {
            throw interrupted(interrupt);
        } catch (LockNotAcquiredException refusal) {
            Duration inAll = elapsed();
            throw refusal.getWaited().compareTo(inAll) < 0
                    ? new LockNotAcquiredException(refusal, inAll, null)
                    : refusal;
        }
    }

    private LockNotAcquiredException interrupted(InterruptedException interrupt) {
        Thread.currentThread().interrupt();
        return new LockNotAcquiredException(name, elapsed(), interrupt);
    }

    private <T, E extends Throwable> T lead(Lease lease, Body<@Nullable T, E> cached, Body<T, E> load) throws E {
        HeldLocks held = held(lease);
        return held.runAndRelease(() -> held.<T, E>call(null, () -> {
            T found = cached.run();
            return found != null ? found : loaded(load.run());
        }));
    }

    // --- without a thread that waits --------------------------------------------------------------------------

    /** Cancelling the result cancels the stage under way. */
    <T> CompletableFuture<T> start(
            Supplier<? extends CompletionStage<@Nullable T>> cached, Supplier<? extends CompletionStage<T>> load) {
        CompletableFuture<T> result = new CompletableFuture<>();
        // A new stage, because this one may be cancelled, and that of the cache may be shared.
        Supplier<CompletionStage<@Nullable T>> read =
                () -> Futures.cancelWith(result, begin(cached, "cached").thenApply(value -> value));
        Supplier<CompletionStage<T>> loadOnce =
                () -> Futures.cancelWith(result, begin(load, "load")).thenApply(this::loaded);
        CompletableFuture.completedFuture(true)
                .thenCompose(now -> read.get())
                .thenCompose(value ->
                        value != null ? CompletableFuture.completedFuture(value) : follow(result, read, loadOnce))
                .whenComplete((value, failure) -> Futures.complete(result, value, failure));
        return result;
    }

    private <T> CompletionStage<T> follow(
            CompletableFuture<T> result,
            Supplier<CompletionStage<@Nullable T>> read,
            Supplier<CompletionStage<T>> loadOnce) {
        CompletableFuture<Lease> request =
                Futures.cancelWith(result, LockRuntime.acquireAsync(registry, lock(), left()));
        Runnable listening = listen(() -> news.complete(null));
        CompletableFuture<@Nullable T> found = awaitValueOrLock(request, read);
        return found.handle((value, failure) -> value == null && failure == null)
                .thenComposeAsync(
                        granted -> {
                            listening.run();
                            return granted
                                    ? Futures.cancelWith(result, lead(request.join(), read, loadOnce))
                                    : giveUp(request).thenCompose(none -> found);
                        },
                        Futures.ELSEWHERE);
    }

    /** {@return completes with null once the lock is granted} */
    private <T> CompletableFuture<@Nullable T> awaitValueOrLock(
            CompletableFuture<Lease> request, Supplier<CompletionStage<@Nullable T>> read) {
        return CompletableFuture.anyOf(request, news)
                .thenComposeAsync(
                        any -> {
                            news = new CompletableFuture<>();
                            return request.isDone() ? CompletableFuture.completedFuture(null) : read.get();
                        },
                        Futures.ELSEWHERE)
                .thenCompose(value -> value != null || request.isDone()
                        ? CompletableFuture.completedFuture(value)
                        : awaitValueOrLock(request, read));
    }

    private <T> CompletableFuture<T> lead(
            Lease lease, Supplier<CompletionStage<@Nullable T>> read, Supplier<CompletionStage<T>> loadOnce) {
        Supplier<CompletionStage<T>> work = () -> read.get()
                .thenCompose(found -> found != null ? CompletableFuture.completedFuture(found) : loadOnce.get());
        return HeldLocks.runAndReleaseAsync(
                CompletableFuture.completedFuture(held(lease)),
                held -> held.<CompletionStage<T>, RuntimeException>call(null, work::get));
    }

    private static <S> S begin(Supplier<S> stage, String name) {
        return Objects.requireNonNull(stage.get(), name + " returned null for a stage");
    }

    // --- both -------------------------------------------------------------------------------------------------

    private NamedLock lock() {
        NamedLock lock = LockRuntime.get(registry, name, options);
        lock.options().requireExclusive("be left out for a single flight, in which one caller loads the value");
        return lock;
    }

    /** {@return completes once the caller has neither a request nor the lock} */
    private static CompletableFuture<@Nullable Void> giveUp(CompletableFuture<Lease> request) {
        request.cancel(false);
        return request.thenCompose(lease -> lease.closeAfter(Duration.ZERO)).exceptionally(neither -> null);
    }

    private HeldLocks held(Lease lease) {
        try {
            return HeldLocks.of(List.of(new LockContext(lock(), lease)));
        } catch (Throwable failure) {
            lease.closeAfter(Duration.ZERO);
            throw failure;
        }
    }

    /** {@return ends the listening} */
    private Runnable listen(Runnable listener) {
        return registry instanceof LockRuntime runtime ? runtime.onAnnounced(name, listener) : () -> {};
    }

    /** Announces the value before the release, so that the waiters that find it have left the queue by then. */
    private <T> T loaded(@Nullable T value) {
        T made = Objects.requireNonNull(
                value,
                () -> "load returned null for lock '" + LockNames.printable(name)
                        + "': return a value, such as an Optional that may be empty");
        if (registry instanceof LockRuntime runtime) {
            runtime.announce(name);
        }
        return made;
    }

    private Duration left() {
        Duration left = Objects.requireNonNull(lock().options().waitTime()).minus(elapsed());
        return left.isNegative() ? Duration.ZERO : left;
    }

    private Duration elapsed() {
        return Duration.ofNanos(Timer.systemNanoTime() - since);
    }
}
