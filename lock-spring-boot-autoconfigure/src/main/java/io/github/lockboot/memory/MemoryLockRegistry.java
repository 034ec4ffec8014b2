package io.github.lockboot.memory;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.engine.EngineLock;
import io.github.lockboot.engine.EngineRegistry;
import io.github.lockboot.engine.LockEngine;
import io.github.lockboot.engine.LockRequest;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.Timer;

/**
 * Locks in the memory of this process, for tests of code that uses locks. They behave as locks on Redis do, with queue,
 * tokens, leases and losses, but exclude no other process.
 *
 * <p>A registry stands for one instance of an application; {@link #newInstance()} creates a second instance with the
 * same locks. Tests can cause failures that are otherwise rare: {@link #expire} and {@link #steal} end a hold.
 *
 * <p>Thread-safe. Callbacks and asynchronous answers run on daemon threads that end when idle.
 */
public final class MemoryLockRegistry extends EngineRegistry implements AutoCloseable {

    private final MemoryStore store;

    /** Creates locks that are shared with no other registry, with a lease of 30 s, renewed, and a wait time of 10 s. */
    public MemoryLockRegistry() {
        this(LockOptions.defaults(), Map.of());
    }

    /**
     * Creates locks that are shared with no other registry.
     *
     * @param defaults for options that a lock does not set; the built-in defaults are a lease of 30 s, renewed, and a
     *     wait time of 10 s
     * @param overrides options that take precedence over those of a lock, by {@link LockOptions#group()}
     */
    public MemoryLockRegistry(LockOptions defaults, Map<String, LockOptions> overrides) {
        this(defaults, overrides, MAX_HOLDERS);
    }

    /**
     * As {@link #MemoryLockRegistry(LockOptions, Map)}.
     *
     * @param defaults for options that a lock does not set
     * @param overrides options that take precedence over those of a lock, by {@link LockOptions#group()}
     * @param maxHolders the maximum number of holders of one lock at a time, permits or registries that read, at least
     *     1; 200 by default
     * @throws IllegalArgumentException if that number is less than 1
     */
    public MemoryLockRegistry(LockOptions defaults, Map<String, LockOptions> overrides, int maxHolders) {
        this(new MemoryStore(Timer.system("lock-memory-timer"), maxHolders), defaults, overrides, maxHolders);
    }

    private MemoryLockRegistry(
            MemoryStore store, LockOptions defaults, Map<String, LockOptions> overrides, int maxHolders) {
        super(defaults, overrides, maxHolders);
        this.store = store;
    }

    @Override
    protected LockEngine makeEngine() {
        return store.newEngine(store.newSession());
    }

    @Override
    protected Function<String, NamedLock> handles(LockEngine engine, LockOptions options, LockRequest unnamed) {
        return name -> new MemoryLock(engine, options, unnamed, name);
    }

    @Override
    public void announce(String name) {
        store.announcements.announced(name);
    }

    @Override
    public Runnable onAnnounced(String name, Runnable listener) {
        return store.announcements.listen(name, listener);
    }

    private static final class MemoryLock extends EngineLock {

        MemoryLock(LockEngine engine, LockOptions options, LockRequest unnamed, String name) {
            super(engine, options, unnamed, name);
        }
    }

    /**
     * Creates a registry for a second instance of the application.
     *
     * @return a registry with the same locks and options, which holds none of them and has no listeners
     */
    public MemoryLockRegistry newInstance() {
        return new MemoryLockRegistry(store, defaults(), overrides(), maxHolders());
    }

    /**
     * Ends all holds of a lock as if their leases had run out. The first waiter gets the lock.
     *
     * @param name the name of the lock
     * @return whether the lock was held
     */
    public boolean expire(String name) {
        return store.revoke(LockNames.valid(name), "its lease ran out", null);
    }

    /**
     * Grants a lock to another holder, exclusively and before all waiters. All present holds are lost.
     *
     * @param name the name of the lock
     * @return the lease of the other holder, which ends when it is closed
     */
    public Lease steal(String name) {
        LockOptions alone = LockOptions.defaults()
                .withTtl(Objects.requireNonNull(defaults().ttl()))
                .withRenewal()
                .withWaitTime(Duration.ofDays(1));
        LockRequest request = LockRequest.of(LockNames.valid(name), alone);
        String session = store.newSession();
        LockEngine thief = store.newEngine(session);
        CompletableFuture<Lease> lease = thief.acquireAsync(request);
        store.putFirst(name, session);
        store.revoke(name, "it was stolen", session);
        return lease.whenComplete((taken, failure) -> thief.stopGranting()).join();
    }

    /**
     * Stops granting locks. Waiters and later callers get {@link io.github.lockboot.LockUnavailableException}. Holds
     * stay, and are renewed, until they are released.
     */
    public void stopGranting() {
        stop();
    }

    /** Stops granting locks, as {@link #stopGranting} does. Holds are left to their leases. Other instances go on. */
    @Override
    public void close() {
        closeOnce();
    }

    @Override
    protected void close(LockEngine made) {
        made.stopGranting();
        made.leaveHolds();
    }

    /** Counts the names and ids in use. Zero once everything is released. */
    int inUse() {
        return engine().inUse() + store.inUse();
    }
}
