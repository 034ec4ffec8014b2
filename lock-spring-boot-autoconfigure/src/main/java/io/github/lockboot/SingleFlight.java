package io.github.lockboot;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Supplier;

import io.github.lockboot.LockTemplate.Action;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.Stopwatch;
import org.jspecify.annotations.Nullable;

/**
 * One caller of a flight: looks into the cache, and if nothing is there asks for the lead. With the lead it looks once more,
 * for another may have completed just before, then loads. Without, it looks again once the leader has completed.
 */
final class SingleFlight {

    private final LockRegistry registry;
    private final String name;
    private final LockOptions options;
    private Stopwatch since = Stopwatch.start();
    private Duration waited = Duration.ZERO;

    SingleFlight(LockRegistry registry, String name, LockOptions options) {
        this.registry = registry;
        this.name = "flight:" + name;
        this.options = options;
    }

    // --- on the calling thread --------------------------------------------------------------------------------

    <T, E extends Throwable> T run(Action<@Nullable T, E> cached, Action<T, E> load) throws E {
        T value = cached.run();
        since = Stopwatch.start();
        while (value == null) {
            Optional<Lease> lead = awaitLead();
            value = lead.isPresent() ? lead(lead.get(), cached, load) : cached.run();
            if (value == null) {
                failIfOver();
            }
        }
        return value;
    }

    private Optional<Lease> awaitLead() {
        try {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            return Futures.await(leadOrFollow());
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            throw new LockNotAcquiredException(name, since.elapsed(), interrupt);
        } catch (LockNotAcquiredException refusal) {
            Duration inAll = since.elapsed();
            throw refusal.getWaited().compareTo(inAll) < 0 ? new LockNotAcquiredException(name, inAll) : refusal;
        }
    }

    private <T, E extends Throwable> T lead(Lease lead, Action<@Nullable T, E> cached, Action<T, E> load) throws E {
        T value;
        try {
            T found = cached.run();
            value = found != null ? found : loaded(load.run());
        } catch (Throwable failure) {
            try {
                lead.close(); // those who wait are not done: one of them leads next
            } catch (RuntimeException releaseFailure) {
                failure.addSuppressed(releaseFailure);
            }
            throw failure;
        }
        complete(lead);
        return value;
    }

    // --- without a thread that waits --------------------------------------------------------------------------

    <T> CompletableFuture<T> start(
            Supplier<? extends CompletionStage<@Nullable T>> cached, Supplier<? extends CompletionStage<T>> load) {
        return new Flight<>(cached, load).start();
    }

    /** Stages one after the other. Cancelling the result cancels the one under way. */
    private final class Flight<T> {

        private final Supplier<? extends CompletionStage<@Nullable T>> cached;
        private final Supplier<? extends CompletionStage<T>> load;
        private final CompletableFuture<T> result = new CompletableFuture<>();
        private volatile @Nullable CompletionStage<?> underWay;

        Flight(Supplier<? extends CompletionStage<@Nullable T>> cached, Supplier<? extends CompletionStage<T>> load) {
            this.cached = cached;
            this.load = load;
        }

        CompletableFuture<T> start() {
            return run(() -> look().thenCompose(value -> {
                since = Stopwatch.start();
                return leadUnless(value);
            }));
        }

        private CompletionStage<T> leadUnless(@Nullable T value) {
            return value != null
                    ? CompletableFuture.completedFuture(value)
                    : step(leadOrFollow(), "lead").thenComposeAsync(this::leadOrLookAgain, Futures.ELSEWHERE);
        }

        private CompletionStage<T> leadOrLookAgain(Optional<Lease> lead) {
            if (lead.isPresent()) {
                CompletableFuture<Lease> lease = CompletableFuture.completedFuture(lead.get());
                Flight<T> loading = new Flight<>(cached, load);
                return step(StageRun.of(lease, held -> loading.lookAndLoad(held), SingleFlight.this::end), "lead");
            }
            return look().thenCompose(value -> {
                if (value == null) {
                    failIfOver();
                }
                return leadUnless(value);
            });
        }

        private CompletionStage<T> lookAndLoad(Lease lead) {
            return LockScope.<CompletionStage<T>, RuntimeException>call(
                    lead,
                    () -> run(() -> look().thenCompose(found -> found != null
                            ? CompletableFuture.completedFuture(found)
                            : step(load.get(), "load").thenApply(SingleFlight.this::loaded))));
        }

        /** A stage of our own, to be cancelled: that of the cache may be shared with others. */
        private CompletionStage<@Nullable T> look() {
            CompletionStage<@Nullable T> looking =
                    Objects.requireNonNull(cached.get(), "cached returned null for a stage");
            return step(looking.thenApply(value -> value), "cached");
        }

        private CompletableFuture<T> run(Supplier<CompletionStage<T>> stages) {
            result.whenComplete((value, failure) -> cancel(underWay));
            CompletableFuture.completedFuture(true)
                    .thenCompose(now -> stages.get())
                    .whenComplete((value, failure) -> {
                        if (failure == null) {
                            result.complete(value);
                        } else {
                            result.completeExceptionally(Futures.unwrap(failure));
                        }
                    });
            return result;
        }

        private <S extends CompletionStage<?>> S step(@Nullable S stage, String of) {
            S begun = Objects.requireNonNull(stage, of + " returned null for a stage");
            underWay = begun;
            if (result.isDone()) {
                cancel(begun);
            }
            return begun;
        }

        /** Does nothing to a stage that has completed. */
        private void cancel(@Nullable CompletionStage<?> stage) {
            if (stage instanceof Future<?> future) {
                future.cancel(true);
            }
        }
    }

    private CompletableFuture<Void> end(Lease lead, boolean succeeded) {
        return succeeded
                ? CompletableFuture.runAsync(() -> complete(lead), Futures.ELSEWHERE)
                : lead.closeAfter(Duration.ZERO);
    }

    // --- both -------------------------------------------------------------------------------------------------

    /** The lease with which to lead, or nothing if another has completed. */
    private CompletableFuture<Optional<Lease>> leadOrFollow() {
        NamedLock lock = registry.get(name, options);
        Duration left = waitTimeOf(lock).minus(waited);
        if (registry instanceof LockRuntime runtime) {
            return runtime.acquireOrFollowAsync(lock, left);
        }
        CompletableFuture<Lease> acquiring = LockRuntime.acquireAsync(registry, lock, left);
        CompletableFuture<Optional<Lease>> lead = new CompletableFuture<>();
        acquiring.whenComplete((lease, failure) -> {
            if (failure != null) {
                lead.completeExceptionally(failure);
            } else if (!lead.complete(Optional.of(lease))) {
                lease.close();
            }
        });
        lead.whenComplete((lease, failure) -> acquiring.cancel(false));
        return lead;
    }

    private void complete(Lease lead) {
        if (registry instanceof LockRuntime runtime) {
            runtime.complete(lead);
        } else {
            lead.close();
        }
    }

    private <T> T loaded(@Nullable T value) {
        return Objects.requireNonNull(value, () -> "load returned null for " + name + "; it must return a value");
    }

    private void failIfOver() {
        waited = since.elapsed();
        if (waitTimeOf(registry.get(name, options)).compareTo(waited) <= 0) {
            throw new LockNotAcquiredException(name, waited);
        }
    }

    private static Duration waitTimeOf(NamedLock lock) {
        return Objects.requireNonNull(lock.options().waitTime());
    }
}
