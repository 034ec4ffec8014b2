package io.github.lockboot.faults;

import java.util.concurrent.locks.Lock;

import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.client.RedisException;
import org.redisson.config.Config;

/** Redisson's RLock, whose lease its watchdog keeps, as one application instance. */
final class RedissonClient implements Contestant.Client {

    private final org.redisson.api.RedissonClient redisson;

    RedissonClient(RedisAddress redis) {
        Config config = redis.forRedisson((int) Terms.COMMAND_TIMEOUT.toMillis());
        config.setLockWatchdogTimeout(Terms.TTL.toMillis());
        redisson = Redisson.create(config);
    }

    @Override
    public Lock lock(String name) {
        return redisson.getLock(name);
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
}
