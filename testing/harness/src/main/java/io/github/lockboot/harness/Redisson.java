package io.github.lockboot.harness;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

import org.jspecify.annotations.Nullable;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.config.BaseConfig;
import org.redisson.config.Config;

/**
 * Redisson's locks. Its watchdog keeps the lease, but for the semaphore's, which nothing keeps.
 *
 * @param timing null for its defaults
 */
public record Redisson(String name, Type type, @Nullable Timing timing) implements Contender {

    private static final Duration PERMIT_LEASE = Duration.ofSeconds(30);

    /** Which of its locks. */
    public enum Type {
        PLAIN,
        FAIR,
        READ_WRITE,
        SEMAPHORE
    }

    @Override
    public String key(String lock) {
        return type + ":" + lock;
    }

    @Override
    public String settings() {
        return timing == null ? "its defaults" : "lockWatchdogTimeout, timeout: " + timing;
    }

    @Override
    public Client connect(RedisAddress redis) {
        Config config = new Config();
        BaseConfig<?> servers = redis.forRedisson(config);
        if (timing != null) {
            config.setLockWatchdogTimeout(timing.lease().toMillis());
            servers.setTimeout((int) timing.commandTimeout().toMillis());
        }
        RedissonClient redisson = org.redisson.Redisson.create(config);
        return new Client() {

            @Override
            public Lock lock(String name) {
                return switch (type) {
                    case PLAIN -> redisson.getLock(key(name));
                    case FAIR -> redisson.getFairLock(key(name));
                    case READ_WRITE -> redisson.getReadWriteLock(key(name)).writeLock();
                    case SEMAPHORE -> lock(name, 1);
                };
            }

            @Override
            public Lock lock(String name, int limit) {
                if (type == Type.SEMAPHORE) {
                    RPermitExpirableSemaphore semaphore = redisson.getPermitExpirableSemaphore(key(name));
                    semaphore.trySetPermits(limit);
                    return new Permit(semaphore);
                }
                return limit == UNLIMITED ? redisson.getReadWriteLock(key(name)).readLock() : lock(name);
            }

            @Override
            public Lock lockOfAll(List<String> names) {
                return redisson.getMultiLock(
                        names.stream().map(name -> redisson.getLock(key(name))).toArray(RLock[]::new));
            }

            /** Asks Redis; who cannot ask is taken not to believe. */
            @Override
            public boolean isHeld(Lock lock) {
                try {
                    return ((RLock) lock).isHeldByCurrentThread();
                } catch (RedisException unknown) {
                    return false;
                }
            }

            @Override
            public void close() {
                redisson.shutdown();
            }
        };
    }

    /** A permit of a semaphore as a lock. */
    private static final class Permit extends PlainLock {

        private final RPermitExpirableSemaphore semaphore;
        private final Deque<String> ids = new ArrayDeque<>();

        Permit(RPermitExpirableSemaphore semaphore) {
            this.semaphore = semaphore;
        }

        @Override
        public void lock() {
            try {
                ids.push(semaphore.acquire(PERMIT_LEASE.toMillis(), TimeUnit.MILLISECONDS));
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void unlock() {
            semaphore.release(ids.pop());
        }
    }
}
