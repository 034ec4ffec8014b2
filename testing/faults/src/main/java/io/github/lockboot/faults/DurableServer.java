package io.github.lockboot.faults;

import java.util.List;

import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.harness.RedisAddress;

/**
 * One server without replicas, with an append-only file that is written to disk once a second. It takes over from
 * itself.
 */
final class DurableServer implements Replicated {

    private final RedisServer server = RedisServer.start("--appendonly", "yes", "--appendfsync", "everysec");

    /** @throws NotHereException if this Redis does not know WAITAOF */
    DurableServer() {
        if (server.version().compareTo("7.2") < 0) {
            server.close();
            throw new NotHereException("Redis knows WAITAOF since 7.2, and this is " + server.product());
        }
    }

    @Override
    public RedisAddress address(int worker) {
        return RedisAddress.standalone(server.host(), server.port());
    }

    @Override
    public RedisServer serverOf(String key) {
        return server;
    }

    @Override
    public List<RedisServer> masters() {
        return List.of(server);
    }

    @Override
    public List<RedisServer> replicasOf(RedisServer master) {
        return List.of();
    }

    @Override
    public void failOver(String key) {
        server.restart();
    }

    @Override
    public void awaitSuccessor(RedisServer old, String key) {
        if (!server.isAlive()) {
            server.restart();
        }
    }

    @Override
    public void awaitWhole() {}

    @Override
    public void close() {
        server.close();
    }
}
