package io.github.lockboot.memory;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import io.github.lockboot.Lease;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockListener.Origin;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRuntime;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.registry.ConfiguredOptions;
import io.github.lockboot.registry.Listeners;
import io.github.lockboot.registry.UseNotifier;
import org.jspecify.annotations.Nullable;

/**
 * Locks in the memory of this process, for tests of code that uses locks. They behave as locks on Redis do, with queue, tokens,
 * leases and losses, but exclude no other process.
 *
 * <p>A registry stands for one instance of an application; {@link #newInstance()} creates a second instance with the same locks.
 * Tests can cause failures that are otherwise rare: {@link #expire} and {@link #steal} end a hold, and {@link #advance} lets time
 * pass at once. Renewed leases do not run out when time passes, as if their holders were alive.
 *
 * <p>Thread-safe. Callbacks and asynchronous answers run on daemon threads that end when idle.
 */
public final class MemoryLockRegistry implements LockRuntime, AutoCloseable {

    static final String CLOSED = "the registry is closed";

    private final MemoryLocks locks;
    private final ConfiguredOptions options;
    private final Listeners listeners;
    private volatile boolean closed;

    /** Creates locks that are shared with no other registry, with a lease of 30 s, renewed, and a wait time of 10 s. */
    public MemoryLockRegistry() {
        this(LockOptions.defaults());
    }

    /**
     * Creates locks that are shared with no other registry.
     *
     * @param defaults for what the options of a lock leave open; what these leave open is a lease of 30 s, renewed, and a wait time
     *     of 10 s
     */
    public MemoryLockRegistry(LockOptions defaults) {
        this(defaults, Map.of());
    }

    /**
     * Creates locks that are shared with no other registry.
     *
     * @param defaults for what the options of a lock leave open; what these leave open is a lease of 30 s, renewed, and a wait time
     *     of 10 s
     * @param overrides options that take precedence over those of a lock, by {@link LockOptions#group()}
     */
    public MemoryLockRegistry(LockOptions defaults, Map<String, LockOptions> overrides) {
        this(new MemoryLocks(), new ConfiguredOptions(defaults, overrides));
    }

    private MemoryLockRegistry(MemoryLocks locks, ConfiguredOptions options) {
        this.locks = locks;
        this.options = options;
        this.listeners = new Listeners(locks::now, locks.workers());
    }

    /**
     * Creates a second instance of the application.
     *
     * @return a registry with the same locks and options, which holds none of them and has no listeners
     */
    public MemoryLockRegistry newInstance() {
        return new MemoryLockRegistry(locks, options);
    }

    // --- failures ---------------------------------------------------------------------------------------------

    /**
     * Ends the hold of a lock as if its lease had run out. The first waiter gets the lock.
     *
     * @param name the name of the lock
     * @return whether the lock was held
     */
    public boolean expire(String name) {
        return locks.inOrder(LockNames.valid(name), slot -> {
            boolean held = slot.holder() != null;
            locks.lose(slot, "its lease ran out");
            return held;
        });
    }

    /**
     * Has another holder take a lock, before all waiters. The present hold, if any, is lost.
     *
     * @param name the name of the lock
     * @return the hold of the other holder, which ends when it is closed
     */
    public Lease steal(String name) {
        long now = locks.now();
        Request thief = new Request(
                LockNames.valid(name),
                this,
                null,
                options.defaults(),
                now,
                Hold.NEVER,
                false,
                UseNotifier.NONE,
                new CompletableFuture<>());
        return locks.inOrder(name, slot -> {
            locks.lose(slot, "another took it");
            return new MemoryLease(locks, slot.grant(thief, Origin.ASKED, now));
        });
    }

    /**
     * Lets time pass for all registries that share these locks. Before this returns, everything due in that time happens in order:
     * waits end, leases that are not renewed run out, and waiters get the lock.
     *
     * @param time the time to pass
     * @throws IllegalArgumentException if negative
     */
    public void advance(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("time is " + time + "; it does not run backwards");
        }
        locks.skip(Hold.nanos(time));
    }

    // --- locks ------------------------------------------------------------------------------------------------

    @Override
    public NamedLock get(String name, LockOptions requested) {
        return new MemoryLock(this, locks, LockNames.valid(name), options.resolve(requested));
    }

    @Override
    public CompletableFuture<Lease> acquireAsync(String name, LockOptions requested) {
        NamedLock lock = get(name, requested);
        return acquireAsync(lock, Objects.requireNonNull(lock.options().waitTime()));
    }

    @Override
    public CompletableFuture<Lease> acquireAsync(NamedLock lock, Duration wait) {
        return request(lock, wait, false, Optional::orElseThrow);
    }

    @Override
    public CompletableFuture<Optional<Lease>> acquireOrFollowAsync(NamedLock lock, Duration wait) {
        return request(lock, wait, true, Function.identity());
    }

    @Override
    public void complete(Lease lease) {
        ((MemoryLease) lease).complete();
    }

    private <T> CompletableFuture<T> request(
            NamedLock lock, Duration wait, boolean follows, Function<Optional<Lease>, T> result) {
        Request request = request(lock.getName(), null, lock.options(), Hold.nanos(wait), follows);
        CompletableFuture<T> answer = new CompletableFuture<>();
        request.answer()
                .whenCompleteAsync(
                        (hold, failure) -> {
                            locks.report(request, hold, failure);
                            Optional<Lease> lease =
                                    Optional.ofNullable(hold).map(granted -> new MemoryLease(locks, granted));
                            if (failure != null) {
                                answer.completeExceptionally(failure);
                            } else if (!answer.complete(result.apply(lease))) {
                                lease.ifPresent(Lease::close);
                            }
                        },
                        locks.workers());
        answer.whenComplete((lease, failure) -> locks.abandon(request));
        return answer;
    }

    Request request(String name, @Nullable Thread thread, LockOptions whole, long wait, boolean follows) {
        long now = locks.now();
        long deadline = wait <= 0 ? now : Hold.plus(now, wait);
        UseNotifier use = listeners.requested(name, whole.group(), thread);
        Request request =
                new Request(name, this, thread, whole, now, deadline, follows, use, new CompletableFuture<>());
        return locks.inOrder(name, slot -> {
            if (closed) {
                request.answer().completeExceptionally(new LockUnavailableException(name, CLOSED, null));
            } else {
                slot.add(request, locks.now());
            }
            return request;
        });
    }

    /** As in every registry, except for renewals and stuck holders, which these locks do not have. */
    @Override
    public void addListener(LockListener listener) {
        listeners.add(listener);
    }

    /** Waiters and later callers get {@link LockUnavailableException}; holds stay until they are released. */
    @Override
    public void close() {
        closed = true;
        locks.failAll(this, CLOSED);
    }

    /** The number of names in use. */
    int inUse() {
        return locks.inUse();
    }
}
