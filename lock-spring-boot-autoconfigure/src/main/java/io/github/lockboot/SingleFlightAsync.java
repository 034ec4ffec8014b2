package io.github.lockboot;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/** As {@link SingleFlight}, each step beginning when the stage of the one before has completed. */
final class SingleFlightAsync<T> {

    private final LockRegistry registry;
    private final String name;
    private final LockOptions options;
    private final Duration waitTime;
    private final Supplier<? extends CompletionStage<@Nullable T>> cached;
    private final Supplier<? extends CompletionStage<T>> load;
    private final Steps<T> steps = new Steps<>();
    private long start;

    SingleFlightAsync(
            LockRegistry registry,
            String name,
            LockOptions options,
            Duration waitTime,
            Supplier<? extends CompletionStage<@Nullable T>> cached,
            Supplier<? extends CompletionStage<T>> load) {
        this.registry = registry;
        this.name = SingleFlight.lockNameOf(name);
        this.options = options;
        this.waitTime = waitTime;
        this.cached = cached;
        this.load = load;
    }

    CompletableFuture<T> start() {
        steps.await(this::look, value -> {
            start = System.nanoTime();
            leadUnless(value, waitTime);
        });
        return steps.result();
    }

    /** A stage of our own, to be cancelled: that of the cache may be shared with others. */
    private CompletionStage<@Nullable T> look() {
        CompletionStage<@Nullable T> looking = Objects.requireNonNull(cached.get(), "cached returned null for a stage");
        return looking.thenApply(value -> value);
    }

    /** Done if it is there. */
    private void leadUnless(@Nullable T value, Duration wait) {
        if (value != null) {
            steps.result().complete(value);
        } else {
            steps.await(
                    () -> registry.acquireOrFollowAsync(name, options.withWaitTime(wait)),
                    Steps.ELSEWHERE,
                    this::leadOrLookAgain);
        }
    }

    private void leadOrLookAgain(Optional<Lease> lead) {
        if (lead.isPresent()) {
            CompletableFuture<Lease> lease = CompletableFuture.completedFuture(lead.get());
            CompletableFuture<T> flown = LeasedStage.run(lease, this::lookAndLoad, SingleFlightAsync::complete);
            steps.await(() -> flown, steps.result()::complete);
        } else {
            steps.await(this::look, this::leadAgainUnless);
        }
    }

    private static CompletableFuture<Void> complete(Lease lead) {
        return CompletableFuture.runAsync(lead::complete, Steps.ELSEWHERE);
    }

    private void leadAgainUnless(@Nullable T value) {
        Duration waited = Duration.ofNanos(System.nanoTime() - start);
        if (value == null && waitTime.compareTo(waited) <= 0) {
            throw new LockNotAcquiredException(name, waited);
        }
        leadUnless(value, waitTime.minus(waited));
    }

    private CompletableFuture<T> lookAndLoad() {
        Steps<T> leading = new Steps<>();
        leading.await(this::look, found -> {
            if (found != null) {
                leading.result().complete(found);
            } else {
                leading.await(load, loaded -> leading.result().complete(SingleFlight.loaded(loaded, name)));
            }
        });
        return leading.result();
    }
}
