package io.github.lockboot.faults;

import java.util.ArrayList;
import java.util.List;

import io.github.lockboot.fixture.RedisBinary;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.harness.RedisAddress;
import org.jspecify.annotations.Nullable;

/** One server; each worker reaches it through a proxy of its own. */
final class Standalone implements Deployment {

    private final RedisServer server;
    private final List<TcpProxy> proxies = new ArrayList<>();

    private Standalone(String... args) {
        server = RedisServer.builder().binary(RedisBinary.find()).args(args).start();
    }

    /** A server that keeps nothing. */
    static Standalone inMemory() {
        return new Standalone();
    }

    /** A server that has every write on disk before it answers. */
    static Standalone durable() {
        return new Standalone("--appendonly", "yes", "--appendfsync", "always");
    }

    /** A server that may be told to sleep. */
    static Standalone debuggable() {
        boolean asksForIt = !RedisBinary.find().version().startsWith("6.");
        return asksForIt ? new Standalone("--enable-debug-command", "local") : new Standalone();
    }

    RedisServer server() {
        return server;
    }

    /** A command past the proxies. */
    @Nullable
    Object command(String... words) {
        try (RedisProbe probe = server.probe()) {
            return probe.command(words);
        }
    }

    /** What the worker of that number reaches Redis through. */
    synchronized TcpProxy proxy(int worker) {
        while (proxies.size() <= worker) {
            proxies.add(TcpProxy.to(server));
        }
        return proxies.get(worker);
    }

    @Override
    public RedisAddress address(int worker) {
        return RedisAddress.standalone(proxy(worker).host(), proxy(worker).port());
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
    public void close() {
        proxies.forEach(TcpProxy::close);
        server.close();
    }
}
