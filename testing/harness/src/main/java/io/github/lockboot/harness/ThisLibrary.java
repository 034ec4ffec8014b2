package io.github.lockboot.harness;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.Lock;

import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.leader.LeaderElection;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.RedisLockRegistry.Acknowledge;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** This library, with one hand-off limit and one set of options. */
public record ThisLibrary(
        String name, int localHandoffLimit, Acknowledge acknowledge, LockOptions options, Timing timing)
        implements Contender {

    private static final Duration GRACE = Duration.ofSeconds(1);
    private static final int ATTEMPTS = 10;

    public ThisLibrary(String name, int localHandoffLimit, Timing timing) {
        this(name, localHandoffLimit, Acknowledge.NONE, timing);
    }

    public ThisLibrary(String name, int localHandoffLimit, Acknowledge acknowledge, Timing timing) {
        this(name, localHandoffLimit, acknowledge, LockOptions.defaults(), timing);
    }

    public ThisLibrary(String name, LockOptions options, Timing timing) {
        this(name, 64, Acknowledge.NONE, options, timing);
    }

    @Override
    public String key(String lock) {
        return "lock:" + lock;
    }

    @Override
    public String settings() {
        return timing + ", local-handoff-limit " + localHandoffLimit + ", acknowledge " + acknowledge;
    }

    /** Where Redis knows a user, the connection factory is one that can be refreshed. */
    @Override
    public Client connect(RedisAddress redis) {
        RefreshedFactory refreshed = redis.hasLogin() ? new RefreshedFactory(redis) : null;
        LettuceConnectionFactory factory = refreshed == null ? redis.forSpring() : refreshed.proxy();
        RedisLockRegistry registry = RedisLockRegistry.builder(factory)
                .commandTimeout(timing.commandTimeout())
                .localHandoffLimit(localHandoffLimit)
                .acknowledge(acknowledge)
                .defaults(options.withTtl(timing.lease()))
                .build();
        connect(registry);
        return new Locks(factory, refreshed, registry);
    }

    /**
     * As the start of an application does, but again where that fails: the first command loads classes, which on a busy
     * machine takes longer than a command may. Without it the process would have one connection until it first waits.
     */
    private static void connect(RedisLockRegistry registry) {
        boolean connected = false;
        for (int i = 0; i < ATTEMPTS && !connected; i++) {
            connected = registry.connect()
                    .handle((none, failure) -> failure == null)
                    .join();
        }
    }

    private record Locks(
            LettuceConnectionFactory factory, @Nullable RefreshedFactory refreshed, RedisLockRegistry registry)
            implements Client {

        @Override
        public Lock lock(String name) {
            return registry.get(name);
        }

        @Override
        public Lock lock(String name, int limit) {
            return switch (limit) {
                case 1 -> registry.readWrite(name).writeLock();
                case UNLIMITED -> registry.readWrite(name).readLock();
                default -> registry.get(name, LockOptions.defaults().withPermits(limit));
            };
        }

        @Override
        public Lock lockOfAll(List<String> names) {
            return registry.allOf(names);
        }

        @Override
        public LeaderElection election(String role) {
            return LeaderElection.of(registry, role);
        }

        @Override
        public boolean isHeld(Lock lock) {
            return ((NamedLock) lock).isHeldByCurrentThread();
        }

        @Override
        public long token(Lock lock) {
            return ((NamedLock) lock).fencingToken();
        }

        @Override
        public long validUntil(Lock lock) {
            long now = System.nanoTime();
            long left = ((NamedLock) lock).remainingLease().toNanos();
            return left == 0 ? 0 : now + left;
        }

        @Override
        public void onLost(Lock lock, Runnable callback) {
            ((NamedLock) lock).onLost(callback);
        }

        @Override
        public void refresh(RedisAddress redis) {
            Objects.requireNonNull(refreshed, "it has no user whose password changes")
                    .refresh(redis);
        }

        @Override
        public int inUse() {
            return registry.inspector().inUse();
        }

        @Override
        public void close() {
            registry.drain(GRACE).join();
            registry.close();
            factory.destroy();
        }
    }
}
