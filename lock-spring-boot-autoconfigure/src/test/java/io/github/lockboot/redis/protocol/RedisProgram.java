package io.github.lockboot.redis.protocol;

import java.util.Optional;

import io.github.lockboot.fixture.RedisBinary;
import io.github.lockboot.fixture.RedisServer;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** The servers that the scripts are tried on: Redis 6.2 always, and what else is installed. */
public enum RedisProgram {
    EMBEDDED,
    INSTALLED;

    /** A new server; the test is skipped if there is no such program, which only the installed one may do. */
    public RedisServer start(String... args) {
        Optional<RedisBinary> binary = this == EMBEDDED ? RedisBinary.embedded() : RedisBinary.installed();
        assumeTrue(
                this == EMBEDDED || binary.isPresent(),
                "The scripts on another Redis than 6.2: none is installed; install redis-server, or set "
                        + RedisBinary.SETTING + " to its path");
        return RedisServer.builder().binary(binary.orElseThrow()).args(args).start();
    }
}
