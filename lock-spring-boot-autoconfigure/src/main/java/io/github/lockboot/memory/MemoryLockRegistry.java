package io.github.lockboot.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import io.github.lockboot.Lease;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRuntime;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.registry.ConfiguredOptions;
import org.jspecify.annotations.Nullable;

/**
 * Locks in the memory of this process, for tests of code that uses locks: they do all that locks on Redis do, queue and
 * tokens, leases and their loss, but exclude nobody outside the process.
 *
 * <p>A registry stands for one instance of an application; {@link #another()} makes a second instance on the same locks. What
 * otherwise takes a mishap, a test brings about at will: {@link #expire} and {@link #steal} end somebody's hold, and
 * {@link #advance} lets time pass at once. Renewed leases do not run out by time passing, as if their holders were
 * alive and well.
 *
 * <p>Thread-safe. Callbacks and asynchronous answers come on daemon threads that end when idle.
 */
public final class MemoryLockRegistry implements LockRuntime, AutoCloseable {

    static final String CLOSED = "the registry is closed";

    private final MemoryLocks locks;
    private final ConfiguredOptions options;
    private volatile boolean closed;
    private volatile List<LockListener> listeners = List.of();

    /** Locks shared with no other registry, held for 30 s, renewed, and waited for up to 10 s. */
    public MemoryLockRegistry() {
        this(LockOptions.defaults());
    }

    /**
     * Locks shared with no other registry.
     *
     * @param defaults for what the options of a lock leave open; what these leave open too is 30 s ttl, 10 s wait, renewed
     */
    public MemoryLockRegistry(LockOptions defaults) {
        this(defaults, Map.of());
    }

    /**
     * Locks shared with no other registry.
     *
     * @param defaults for what the options of a lock leave open; what these leave open too is 30 s ttl, 10 s wait, renewed
     * @param overrides what comes before the options of a lock, by {@link LockOptions#group()}
     */
    public MemoryLockRegistry(LockOptions defaults, Map<String, LockOptions> overrides) {
        this(new MemoryLocks(), new ConfiguredOptions(defaults, overrides));
    }

    private MemoryLockRegistry(MemoryLocks locks, ConfiguredOptions options) {
        this.locks = locks;
        this.options = options;
    }

    /**
     * {@return a second instance of the application: a registry with the same locks and defaults, in which nobody holds any
     * and to which nobody listens}
     */
    public MemoryLockRegistry another() {
        return new MemoryLockRegistry(locks, options);
    }

    // --- mishaps ----------------------------------------------------------------------------------------------

    /**
     * Has the present hold of that name lost, as if its lease had run out; who waits longest gets the lock.
     *
     * @param name of the lock
     * @return whether anybody held it
     */
    public boolean expire(String name) {
        return locks.inOrder(LockNames.valid(name), slot -> {
            boolean held = slot.holder() != null;
            slot.lose("its lease ran out");
            return held;
        });
    }

    /**
     * Has another take the lock of that name before all who wait; the present hold, if any, is lost.
     *
     * @param name of the lock
     * @return the hold of that other, to be closed when it is to end
     */
    public Lease steal(String name) {
        CompletableFuture<@Nullable MemoryHold> unasked = new CompletableFuture<>();
        MemoryUse unheard = new MemoryUse(locks, List.of(), name, null, null);
        Request thief = new Request(
                this, LockNames.valid(name), null, options.defaults(), Lifetime.NEVER, null, unheard, unasked);
        return locks.inOrder(name, slot -> {
            slot.lose("another took it");
            return slot.grant(thief);
        });
    }

    /**
     * Lets time pass for all who share these locks. What falls due on the way happens in its order before this returns:
     * waits end, leases that are not renewed run out, and the lock goes to the next.
     *
     * @param time that has then passed
     * @throws IllegalArgumentException if negative
     */
    public void advance(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("time is " + time + "; it does not run backwards");
        }
        locks.skip(Lifetime.nanos(time));
    }

    // --- locks ------------------------------------------------------------------------------------------------

    @Override
    public NamedLock get(String name, LockOptions options) {
        return new MemoryLock(this, locks, LockNames.valid(name), this.options.resolve(options));
    }

    @Override
    public CompletableFuture<Lease> acquireAsync(String name, LockOptions options) {
        NamedLock lock = get(name, options);
        return acquireAsync(lock, Objects.requireNonNull(lock.options().waitTime()));
    }

    @Override
    public CompletableFuture<Lease> acquireAsync(NamedLock lock, Duration wait) {
        return acquire(lock, wait, new CompletableFuture<>(), lease -> lease, null);
    }

    @Override
    public CompletableFuture<Optional<Lease>> acquireOrFollowAsync(NamedLock lock, Duration wait) {
        CompletableFuture<Optional<Lease>> lease = new CompletableFuture<>();
        return acquire(
                lock, wait, lease, Optional::of, () -> locks.workers().execute(() -> lease.complete(Optional.empty())));
    }

    @Override
    public void complete(Lease lease) {
        ((MemoryHold) lease).complete();
    }

    private <T> CompletableFuture<T> acquire(
            NamedLock lock,
            Duration wait,
            CompletableFuture<T> lease,
            Function<Lease, T> result,
            @Nullable Runnable completed) {
        long start = locks.now();
        Request request = request(lock.getName(), null, lock.options(), Lifetime.nanos(wait), completed);
        request.answer()
                .whenCompleteAsync(
                        (hold, failure) -> {
                            if (failure != null) {
                                request.use().unavailable();
                                lease.completeExceptionally(failure);
                            } else if (hold == null) {
                                request.use().notAcquired();
                                Duration waited = Duration.ofNanos(locks.now() - start);
                                lease.completeExceptionally(new LockNotAcquiredException(lock.getName(), waited));
                            } else {
                                request.use().acquired(hold);
                                if (!lease.complete(result.apply(hold))) {
                                    hold.close();
                                }
                            }
                        },
                        locks.workers());
        lease.whenComplete((held, failure) -> {
            if (leave(request)) {
                request.use().abandoned();
            } else if (Optional.empty().equals(held)) {
                request.use().followed();
            }
        });
        return lease;
    }

    /** As everywhere, but of renewals and stuck holders, which these locks do not have. */
    @Override
    public synchronized void addListener(LockListener listener) {
        List<LockListener> more = new ArrayList<>(listeners);
        more.add(listener);
        listeners = List.copyOf(more);
    }

    /** Those who wait get {@link LockUnavailableException}, and so does who asks; holds stay until they are released. */
    @Override
    public void close() {
        closed = true;
        locks.failAll(this, CLOSED);
    }

    Request request(
            String name, @Nullable Thread thread, LockOptions options, long wait, @Nullable Runnable completed) {
        long deadline = wait <= 0 ? locks.now() : Lifetime.plus(locks.now(), wait);
        MemoryUse use = new MemoryUse(locks, listeners, name, options.group(), thread);
        use.requested();
        Request request = new Request(this, name, thread, options, deadline, completed, use, new CompletableFuture<>());
        locks.inOrder(name, slot -> {
            slot.add(request);
            if (closed) {
                slot.fail(this, CLOSED);
            }
            return null;
        });
        if (!request.answer().isDone()) {
            use.waits();
        }
        return request;
    }

    /** @return false if it has been answered */
    boolean leave(Request request) {
        return locks.inOrder(request.name(), slot -> slot.remove(request));
    }

    /** Names in use; 0 when nothing is left behind. */
    int inUse() {
        return locks.inUse();
    }
}
