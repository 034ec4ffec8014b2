package io.github.lockboot.redis;

import java.util.List;
import java.util.Map;
import java.util.function.Function;

import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.engine.EngineLock;
import io.github.lockboot.engine.LockEngine;
import io.github.lockboot.engine.LockKind;
import io.github.lockboot.engine.LockRequest;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.internal.LockNames;

/**
 * A lock in Redis, a complete {@link java.util.concurrent.locks.Lock} for all threads of all instances.
 * {@link RedisLockRegistry#get} makes it; it has no state of its own, so it may be made again for each use, or kept.
 *
 * <ul>
 *   <li>{@link #tryLock()} runs {@code acquire.lua}, which acquires the lock if it is free, and does not queue.
 *   <li>{@link #lock()} and {@link #tryLock(long, java.util.concurrent.TimeUnit)} run the same script, which puts the
 *       request into the queue in Redis if the lock is held. The release of the holder before it grants the lock to
 *       this waiter, and a message wakes it.
 *   <li>While the lock is held, {@code renew.lua} extends its lease every third of the ttl.
 *   <li>{@link #unlock()} runs {@code unlock.lua}, which grants the lock to the first waiter or leaves it free. It
 *       changes no hold of another holder, and throws {@link io.github.lockboot.LockLostException} if this hold had
 *       ended before.
 *   <li>A thread that holds the lock acquires it again without a command. The lock is passed on to waiting threads of
 *       this process without a command.
 * </ul>
 *
 * <p>Two locks of one registry with the same name, mode and permits are equal.
 */
public final class RedisLock extends EngineLock {

    private final RedisLockRegistry registry;
    private final LockEngine engine;

    private RedisLock(
            LockEngine engine, LockOptions options, LockRequest unnamed, String name, RedisLockRegistry registry) {
        super(engine, options, unnamed, name);
        this.registry = registry;
        this.engine = engine;
    }

    /** {@return a function from names to locks of the registry with these options} */
    static Function<String, NamedLock> of(
            RedisLockRegistry registry, LockEngine engine, LockOptions options, LockRequest unnamed) {
        return name -> new RedisLock(engine, options, unnamed, name, registry);
    }

    /** {@return the key of this lock in Redis: the prefix of the registry, and the name} */
    public String key() {
        return registry.keyOf(getName());
    }

    /**
     * {@return whether any thread or {@link io.github.lockboot.Lease} of this registry holds the lock} Sends no
     * command. For display.
     */
    public boolean isHeldHere() {
        return engine.isHeldHere(getName());
    }

    /**
     * {@return the ids of the holders in Redis, in the order of their grants} An id begins with the session of its
     * registry, which the registry logs at the start and {@link RedisLockInspector#session()} returns. Readers of one
     * registry share one id. Sends one command. For display: the answer may be outdated when it arrives.
     *
     * @throws LockUnavailableException if Redis did not answer
     */
    public List<String> holders() {
        return registry.holders(getName());
    }

    /**
     * {@return how many registries wait for the lock in Redis} All waiters of one registry for one kind of lock queue
     * as one. Sends one command. For display: the answer may be outdated when it arrives.
     *
     * @throws LockUnavailableException if Redis did not answer
     */
    public int waiters() {
        return (int) engine.show(getName()).waiters();
    }

    /**
     * {@return how many permits of this lock are free} The smallest number among this lock and its holders counts.
     * Waiters get them first. Sends one command. For display: the answer may be outdated when it arrives.
     *
     * @throws IllegalStateException if this is not a lock with permits
     * @throws LockUnavailableException if Redis did not answer
     */
    public int freePermits() {
        Integer permits = options().permits();
        if (permits == null) {
            throw new IllegalStateException("lock '" + LockNames.printable(getName())
                    + "' has no permits: get it with LockOptions.withPermits");
        }
        List<Reply.Holder> holders = engine.show(getName()).holders();
        int most = holders.stream()
                .mapToInt(holder -> holder.kind() == LockKind.LIMITED ? holder.permits() : 0)
                .reduce(permits, Math::min);
        return Math.max(0, most - holders.size());
    }

    /**
     * Reads the key of this lock in Redis for display.
     *
     * @return as {@link RedisLockInspector#stateOf}
     * @throws LockUnavailableException if Redis did not answer
     */
    public Map<String, Object> state() {
        return registry.inspector().stateOf(getName());
    }
}
