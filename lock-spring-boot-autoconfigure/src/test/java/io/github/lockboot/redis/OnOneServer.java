package io.github.lockboot.redis;

import java.util.ArrayList;
import java.util.List;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import static org.assertj.core.api.Assertions.assertThat;

/** A server for each test, which counts what its clients send. */
abstract class OnOneServer {

    RedisServer server;
    RedisProbe probe;
    TestRegistries registries;
    private final List<Actor> actors = new ArrayList<>();

    @BeforeEach
    void start() {
        server = RedisServer.start();
        probe = server.probe();
        registries = TestRegistries.on(server);
    }

    @AfterEach
    void stop() {
        actors.forEach(Actor::close);
        registries.close();
        probe.close();
        server.close();
    }

    final Actor actor() {
        Actor actor = new Actor();
        actors.add(actor);
        return actor;
    }

    /** Commands that clients sent for locks; those inside scripts are none. */
    final long commands() {
        return calls("evalsha") + calls("eval");
    }

    /** So many, and on a slow machine at most one renewal in a hundred holds. */
    final void assertCommands(int expected, int holds) {
        assertThat(commands()).isBetween((long) expected, (long) expected + holds / 100);
    }

    /**
     * Of a hold that began then: the first one is due after nine tenths of a second, and Redis may not know its script.
     */
    static long mostOfRenewals(long start) {
        return 2 * (Figures.millisSince(start) / 900);
    }

    final long messages() {
        return calls("publish");
    }

    private long calls(String command) {
        return probe.commandCalls().getOrDefault(command, 0L);
    }
}
