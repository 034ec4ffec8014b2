package io.github.lockboot;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import io.github.lockboot.LockTemplate.Action;
import org.jspecify.annotations.Nullable;

/**
 * One caller of a flight: looks, and unless it is there asks for the lead. With the lead it looks once more, for another may
 * have completed just before, then loads; without, it looks again once the leader has completed.
 */
final class SingleFlight<T, E extends Throwable> {

    private final LockRegistry registry;
    private final String name;
    private final LockOptions options;
    private final Duration waitTime;
    private final Action<@Nullable T, E> cached;
    private final Action<T, E> load;

    SingleFlight(
            LockRegistry registry,
            String name,
            LockOptions options,
            Duration waitTime,
            Action<@Nullable T, E> cached,
            Action<T, E> load) {
        this.registry = registry;
        this.name = lockNameOf(name);
        this.options = options;
        this.waitTime = waitTime;
        this.cached = cached;
        this.load = load;
    }

    /** The lock that the leader of a flight holds. */
    static String lockNameOf(String name) {
        return "flight:" + name;
    }

    static <T> T loaded(@Nullable T value, String name) {
        return Objects.requireNonNull(value, () -> "load returned null for " + name + "; it must return a value");
    }

    T get() throws E {
        T value = cached.run();
        long start = System.nanoTime();
        Duration left = waitTime;
        while (value == null) {
            Optional<Lease> lead = leadOrFollow(left, start);
            value = lead.isPresent() ? lead(lead.get()) : cached.run();
            left = waitTime.minus(since(start));
            if (value == null && (left.isNegative() || left.isZero())) {
                throw new LockNotAcquiredException(name, since(start));
            }
        }
        return value;
    }

    private Optional<Lease> leadOrFollow(Duration wait, long start) {
        try {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            return await(registry.acquireOrFollowAsync(name, options.withWaitTime(wait)));
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            throw new LockNotAcquiredException(name, since(start), interrupt);
        } catch (LockNotAcquiredException refusal) {
            Duration waited = since(start); // all the times
            throw refusal.getWaited().compareTo(waited) < 0 ? new LockNotAcquiredException(name, waited) : refusal;
        }
    }

    private static Optional<Lease> await(CompletableFuture<Optional<Lease>> answer) throws InterruptedException {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return answer.get();
                } catch (InterruptedException interrupt) {
                    if (answer.cancel(false)) {
                        throw interrupt;
                    }
                    interrupted = true; // decided first
                } catch (ExecutionException failure) {
                    throw failure.getCause() instanceof RuntimeException cause
                            ? cause
                            : new IllegalStateException(failure.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private T lead(Lease lease) throws E {
        T value;
        try {
            T found = cached.run();
            value = found != null ? found : loaded(load.run(), name);
        } catch (Throwable failure) {
            closeAfter(failure, lease);
            throw failure;
        }
        lease.complete();
        return value;
    }

    /** Those who wait are not done: one of them leads next. */
    private static void closeAfter(Throwable failure, Lease lease) {
        try {
            lease.close();
        } catch (RuntimeException releaseFailure) {
            failure.addSuppressed(releaseFailure);
        }
    }

    private static Duration since(long start) {
        return Duration.ofNanos(System.nanoTime() - start);
    }
}
