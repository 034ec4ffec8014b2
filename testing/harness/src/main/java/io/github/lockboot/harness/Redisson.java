package io.github.lockboot.harness;

import java.util.concurrent.locks.Lock;

import org.jspecify.annotations.Nullable;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.config.BaseConfig;
import org.redisson.config.Config;

/**
 * Redisson's RLock or RFairLock; its watchdog keeps the lease.
 *
 * @param timing null for its defaults
 */
public record Redisson(String name, boolean fair, @Nullable Timing timing) implements Contender {

    @Override
    public String key(String lock) {
        return (fair ? "fair:" : "plain:") + lock;
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
                return fair ? redisson.getFairLock(key(name)) : redisson.getLock(key(name));
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
}
