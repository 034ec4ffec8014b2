package io.github.lockboot.redis;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRegistryContract;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract on the Redis that is found first. */
class RedisLockTests extends LockRegistryContract {

    private static RedisServer server;
    private static TestRegistries registries;
    private static RedisLockRegistry one;
    private static RedisLockRegistry other;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        registries = TestRegistries.on(server);
        one = registries.connected();
        other = registries.connected();
    }

    @AfterAll
    static void stop() {
        registries.close();
        server.close();
    }

    @Override
    protected LockRegistry registry() {
        return one;
    }

    @Override
    protected LockRegistry otherRegistry() {
        return other;
    }
}
