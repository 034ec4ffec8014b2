package io.github.lockboot.redis.fleet;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

import io.github.lockboot.Actor;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.TestRegistries;

/** A Redis, the registries on it, and threads that use them; ended together. */
final class Fleet implements AutoCloseable {

    private final RedisServer server;
    private final List<TestRegistries> connections = new ArrayList<>();
    private final List<RedisLockRegistry> registries = new ArrayList<>();
    private final List<Actor> actors = new ArrayList<>();
    private final List<TcpProxy> proxies = new ArrayList<>();

    Fleet(String... redisArgs) {
        server = RedisServer.start(redisArgs);
    }

    RedisServer server() {
        return server;
    }

    /** A registry like the one of another application instance, connected already. */
    RedisLockRegistry registry(UnaryOperator<RedisLockRegistry.Builder> settings) {
        return connected(registryAt(server.host(), server.port(), settings));
    }

    RedisLockRegistry registry() {
        return registry(UnaryOperator.identity());
    }

    /** A registry that sees Redis through a proxy, connected already. */
    RedisLockRegistry registry(TcpProxy through, UnaryOperator<RedisLockRegistry.Builder> settings) {
        return connected(registryAt(through.host(), through.port(), settings));
    }

    TcpProxy proxy() {
        TcpProxy proxy = TcpProxy.to(server);
        proxies.add(proxy);
        return proxy;
    }

    private RedisLockRegistry registryAt(String host, int port, UnaryOperator<RedisLockRegistry.Builder> settings) {
        TestRegistries made = TestRegistries.at(host, port);
        connections.add(made);
        RedisLockRegistry registry = made.registry(settings);
        registries.add(registry);
        return registry;
    }

    /** Connecting for the first time loads classes, which on a busy machine takes longer than a command may. */
    private static RedisLockRegistry connected(RedisLockRegistry registry) {
        Actor.await("connected", () -> canLock(registry, "connecting"));
        return registry;
    }

    static boolean canLock(RedisLockRegistry registry, String name) {
        return TestRegistries.canLock(registry, name);
    }

    static UnaryOperator<RedisLockRegistry.Builder> ttl(Duration ttl) {
        return builder -> builder.defaults(LockOptions.defaults().withTtl(ttl));
    }

    /** A thread. */
    Actor actor() {
        Actor actor = new Actor();
        actors.add(actor);
        return actor;
    }

    /** A thread that takes the lock now and keeps it. */
    Actor holder(NamedLock lock) throws Exception {
        Actor holder = actor();
        holder.run(lock::lock);
        return holder;
    }

    int inUse() {
        return registries.stream()
                .mapToInt(registry -> registry.inspector().inUse())
                .sum();
    }

    /** Waiters in the queue of that lock in Redis. */
    int queued(String name) {
        return StoredLock.at(server, "lock:" + name).queue().size();
    }

    void awaitQueued(String name, int count) {
        Actor.await(count + " queued for " + name, () -> queued(name) == count);
    }

    /** Waits until neither the registries nor Redis know of any lock. */
    void awaitNothingLeft() {
        Actor.await("nothing in use", () -> inUse() == 0);
        Actor.await("no key is left", () -> server.command("DBSIZE").equals(0L));
    }

    @Override
    public void close() {
        actors.forEach(Actor::close);
        proxies.forEach(TcpProxy::pass);
        connections.forEach(TestRegistries::close);
        proxies.forEach(TcpProxy::close);
        server.close();
    }
}
