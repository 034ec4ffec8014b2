package io.github.lockboot;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
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
        Steps<T> steps = new Steps<>();
        steps.await(() -> look(cached), value -> {
            since = Stopwatch.start();
            goOn(steps, value, cached, load);
        });
        return steps.result();
    }

    private <T> void goOn(
            Steps<T> steps,
            @Nullable T value,
            Supplier<? extends CompletionStage<@Nullable T>> cached,
            Supplier<? extends CompletionStage<T>> load) {
        if (value != null) {
            steps.result().complete(value);
            return;
        }
        steps.await(this::leadOrFollow, Steps.ELSEWHERE, lead -> {
            if (lead.isPresent()) {
                CompletableFuture<Lease> lease = CompletableFuture.completedFuture(lead.get());
                CompletableFuture<T> flown =
                        LeasedStage.run(lease, () -> lookAndLoad(cached, load), this::completeElsewhere);
                steps.await(() -> flown, steps.result()::complete);
            } else {
                steps.await(() -> look(cached), again -> {
                    if (again == null) {
                        failIfOver();
                    }
                    goOn(steps, again, cached, load);
                });
            }
        });
    }

    /** A stage of our own, to be cancelled: that of the cache may be shared with others. */
    private static <T> CompletionStage<@Nullable T> look(Supplier<? extends CompletionStage<@Nullable T>> cached) {
        CompletionStage<@Nullable T> looking = Objects.requireNonNull(cached.get(), "cached returned null for a stage");
        return looking.thenApply(value -> value);
    }

    private <T> CompletableFuture<T> lookAndLoad(
            Supplier<? extends CompletionStage<@Nullable T>> cached, Supplier<? extends CompletionStage<T>> load) {
        Steps<T> leading = new Steps<>();
        leading.await(() -> look(cached), found -> {
            if (found != null) {
                leading.result().complete(found);
            } else {
                leading.await(load, value -> leading.result().complete(loaded(value)));
            }
        });
        return leading.result();
    }

    private CompletableFuture<Void> completeElsewhere(Lease lead) {
        return CompletableFuture.runAsync(() -> complete(lead), Steps.ELSEWHERE);
    }

    // --- both -------------------------------------------------------------------------------------------------

    /** The lease with which to lead, or nothing if another has completed. */
    private CompletableFuture<Optional<Lease>> leadOrFollow() {
        NamedLock lock = registry.get(name, options);
        Duration left = waitTimeOf(lock).minus(waited);
        if (registry instanceof LockRuntime runtime) {
            return runtime.acquireOrFollowAsync(lock, left);
        }
        CompletableFuture<Lease> acquiring = registry.acquireAsync(name, options.withWaitTime(left));
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
