package io.github.lockboot.benchmarks;

import java.util.concurrent.locks.Lock;

import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson with its defaults: the lease is kept by its watchdog. */
record Redisson(String name, boolean fair) implements Contender {

    @Override
    public Client connect(String host, int port) {
        Config config = new Config();
        config.useSingleServer().setAddress("redis://" + host + ":" + port);
        RedissonClient redisson = org.redisson.Redisson.create(config);
        return new Client() {

            @Override
            public Lock lock(String name) {
                return fair ? redisson.getFairLock("fair:" + name) : redisson.getLock("plain:" + name);
            }

            @Override
            public void close() {
                redisson.shutdown();
            }
        };
    }
}
