package io.github.lockboot;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.github.lockboot.HeldLocks.Body;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/**
 * One caller of a flight. It looks into the cache, and waits for the lead if nothing is there. With the lead it looks once more,
 * because another may have completed just before, and then loads. If another leads, it looks again once that leader has completed.
 */
final class SingleFlight {

    private final LockRegistry registry;
    private final String name;
    private final LockOptions options;
    private final long since = Timer.systemNanoTime();

    SingleFlight(LockRegistry registry, String name, LockOptions options) {
        this.registry = registry;
        this.name = "flight:" + name;
        this.options = options;
    }

    // --- on the calling thread --------------------------------------------------------------------------------

    <T, E extends Throwable> T run(Body<@Nullable T, E> cached, Body<T, E> load) throws E {
        T value = cached.run();
        while (value == null) {
            Optional<Lease> lead = awaitLead();
            value = lead.isPresent() ? lead(lead.get(), cached, load) : cached.run();
            failIfOver(value);
        }
        return value;
    }

    private Optional<Lease> awaitLead() {
        NamedLock lock = lock();
        try {
            return registry instanceof LockRuntime runtime
                    ? Futures.await(() -> runtime.acquireOrFollowAsync(lock, left()))
                    : Optional.of(Futures.await(() -> LockRuntime.acquireAsync(registry, lock, left())));
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            throw new LockNotAcquiredException(name, elapsed(), interrupt);
        } catch (LockNotAcquiredException refusal) {
            Duration inAll = elapsed();
            throw refusal.getWaited().compareTo(inAll) < 0 ? new LockNotAcquiredException(name, inAll) : refusal;
        }
    }

    private <T, E extends Throwable> T lead(Lease lead, Body<@Nullable T, E> cached, Body<T, E> load) throws E {
        HeldLocks held = held(lead);
        return held.runAndRelease(() -> complete(lead, held.<T, E>callInside(() -> {
            T found = cached.run();
            return found != null ? found : loaded(load.run());
        })));
    }

    // --- without a thread that waits --------------------------------------------------------------------------

    /** Cancelling the result cancels the stage under way. */
    <T> CompletableFuture<T> start(
            Supplier<? extends CompletionStage<@Nullable T>> cached, Supplier<? extends CompletionStage<T>> load) {
        CompletableFuture<T> result = new CompletableFuture<>();
        // A new stage, because this one may be cancelled, and that of the cache may be shared.
        Supplier<CompletionStage<@Nullable T>> look =
                () -> Futures.cancelWith(result, begin(cached, "cached").thenApply(value -> value));
        Supplier<CompletionStage<T>> make =
                () -> Futures.cancelWith(result, begin(load, "load")).thenApply(this::loaded);
        CompletableFuture.completedFuture(true)
                .thenCompose(now -> look.get())
                .thenCompose(value -> leadUnless(value, result, look, make))
                .whenComplete((value, failure) -> Futures.complete(result, value, failure));
        return result;
    }

    private <T> CompletionStage<T> leadUnless(
            @Nullable T value,
            CompletableFuture<T> result,
            Supplier<CompletionStage<@Nullable T>> look,
            Supplier<CompletionStage<T>> make) {
        if (value != null) {
            return CompletableFuture.completedFuture(value);
        }
        NamedLock lock = lock();
        CompletableFuture<Optional<Lease>> leading = registry instanceof LockRuntime runtime
                ? Futures.cancelWith(result, runtime.acquireOrFollowAsync(lock, left()))
                : Futures.cancelWith(result, LockRuntime.acquireAsync(registry, lock, left()))
                        .thenApply(Optional::of);
        return leading.thenComposeAsync(
                lead -> lead.isPresent()
                        ? Futures.cancelWith(result, lead(lead.get(), look, make))
                        : look.get().thenCompose(found -> {
                            failIfOver(found);
                            return leadUnless(found, result, look, make);
                        }),
                Futures.ELSEWHERE);
    }

    private <T> CompletableFuture<T> lead(
            Lease lead, Supplier<CompletionStage<@Nullable T>> look, Supplier<CompletionStage<T>> make) {
        Supplier<CompletionStage<T>> work = () ->
                look.get().thenCompose(found -> found != null ? CompletableFuture.completedFuture(found) : make.get());
        return HeldLocks.runAndReleaseAsync(
                CompletableFuture.completedFuture(held(lead)),
                held -> held.<CompletionStage<T>, RuntimeException>callInside(work::get)
                        .thenApplyAsync(value -> complete(lead, value), Futures.ELSEWHERE));
    }

    private static <S> S begin(Supplier<S> stage, String name) {
        return Objects.requireNonNull(stage.get(), name + " returned null for a stage");
    }

    // --- both -------------------------------------------------------------------------------------------------

    private NamedLock lock() {
        NamedLock lock = LockRuntime.get(registry, name, options);
        lock.options().requireExclusive("be left out for a flight, which has one leader");
        return lock;
    }

    private HeldLocks held(Lease lead) {
        try {
            HeldLocks held = new HeldLocks();
            held.add(new LockContext(lock(), lead, null));
            return held;
        } catch (Throwable failure) {
            lead.closeAfter(Duration.ZERO);
            throw failure;
        }
    }

    private <T> T loaded(@Nullable T value) {
        return Objects.requireNonNull(
                value, () -> "load returned null for " + LockNames.printable(name) + "; it must return a value");
    }

    /** All followers look again. If the leader fails, the release passes the lead to one of them. */
    private <T> T complete(Lease lead, T value) {
        if (registry instanceof LockRuntime runtime) {
            runtime.complete(lead);
        }
        return value;
    }

    /** Throws if nothing was found and there is no time to look for it again. */
    private void failIfOver(@Nullable Object found) {
        if (found == null && left().isZero()) {
            throw new LockNotAcquiredException(name, elapsed());
        }
    }

    private Duration left() {
        Duration left = Objects.requireNonNull(lock().options().waitTime()).minus(elapsed());
        return left.isNegative() ? Duration.ZERO : left;
    }

    private Duration elapsed() {
        return Duration.ofNanos(Timer.systemNanoTime() - since);
    }
}
