package io.github.lockboot.redis;

import java.util.Optional;

import io.github.lockboot.fixture.RedisBinary;
import io.github.lockboot.fixture.RedisServer;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** The servers that the scripts are tried on: Redis 6.2 always, and what else is installed. */
enum RedisProgram {
    EMBEDDED,
    ON_PATH;

    /** A new server; the test is skipped if there is no such program, which only the one on the PATH may do. */
    RedisServer start(String... args) {
        Optional<RedisBinary> binary = this == EMBEDDED ? RedisBinary.embedded() : RedisBinary.onPath();
        assumeTrue(this == EMBEDDED || binary.isPresent(), "neither redis-server nor valkey-server is on the PATH");
        return RedisServer.builder().binary(binary.orElseThrow()).args(args).start();
    }
}
