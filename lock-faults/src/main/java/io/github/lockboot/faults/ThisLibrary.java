package io.github.lockboot.faults;

import java.time.Duration;
import java.util.concurrent.locks.Lock;

import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.redis.RedisLockRegistry;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** This library, as one application instance. */
final class ThisLibrary implements Contestant.Client {

    private static final Duration GRACE = Duration.ofSeconds(1);

    private final LettuceConnectionFactory factory;
    private final RedisLockRegistry registry;

    ThisLibrary(RedisAddress redis, int handoffLimit) {
        factory = new LettuceConnectionFactory(redis.forSpring());
        factory.afterPropertiesSet();
        factory.start();
        registry = RedisLockRegistry.builder(factory)
                .commandTimeout(Terms.COMMAND_TIMEOUT)
                .localHandoffLimit(handoffLimit)
                .defaults(LockOptions.defaults().withTtl(Terms.TTL))
                .build();
    }

    @Override
    public Lock lock(String name) {
        return registry.get(name);
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
    public int remains() {
        return registry.inspector().inUse();
    }

    @Override
    public void close() {
        registry.drain(GRACE).join();
        registry.close();
        factory.destroy();
    }
}
