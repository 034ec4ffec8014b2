package io.github.lockboot.redis;

import java.util.ArrayList;
import java.util.List;

import io.github.lockboot.Actor;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

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

    final long messages() {
        return calls("publish");
    }

    private long calls(String command) {
        return probe.commandCalls().getOrDefault(command, 0L);
    }
}
