package io.github.lockboot.redis.protocol;

import io.github.lockboot.fixture.RedisBinary;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** Scripts on a Redis of the oldest version, under a clock of the test. */
abstract class OnClockedScripts {

    static RedisServer server;
    static RedisProbe redis;
    static ClockedScripts scripts;

    @BeforeAll
    static void start() {
        server = RedisServer.builder()
                .binary(RedisBinary.embedded().orElseThrow())
                .start();
        redis = server.probe();
        scripts = new ClockedScripts(redis);
    }

    @AfterAll
    static void stop() {
        redis.close();
        server.close();
    }

    @BeforeEach
    void clear() {
        redis.command("FLUSHALL");
    }
}
