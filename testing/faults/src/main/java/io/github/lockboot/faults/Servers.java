package io.github.lockboot.faults;

import java.util.List;
import java.util.stream.Stream;

import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisSentinel;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.harness.RedisAddress;

/**
 * A Redis that goes away as a whole and comes back.
 *
 * @param address how an application reaches it
 * @param data the servers that have the data
 * @param all those and the Sentinels, in the order in which they start
 * @param closing ends all of them
 */
record Servers(RedisAddress address, List<RedisServer> data, List<RedisServer> all, Runnable closing)
        implements AutoCloseable {

    static Servers one() {
        RedisServer server = RedisServer.start();
        return new Servers(
                RedisAddress.standalone(server.host(), server.port()), List.of(server), List.of(server), server::close);
    }

    /** A master and a replica, which clients are told by their addresses. */
    static Servers replicas() {
        RedisServer master = RedisServer.start();
        RedisServer replica = RedisServer.start("--replicaof", master.host(), "" + master.port());
        List<RedisServer> both = List.of(master, replica);
        RedisAddress address = RedisAddress.staticReplicas(
                both.stream().map(RedisServer::address).toList());
        return new Servers(address, both, both, () -> both.forEach(RedisServer::close));
    }

    static Servers sentinel() {
        RedisSentinel group = RedisSentinel.start();
        List<RedisServer> all = Stream.concat(group.servers().stream(), group.sentinels().stream())
                .toList();
        return new Servers(
                RedisAddress.sentinel(group.masterName(), group.nodes()), group.servers(), all, group::close);
    }

    static Servers cluster() {
        RedisCluster cluster = RedisCluster.start();
        return new Servers(RedisAddress.cluster(cluster.nodes()), cluster.servers(), cluster.servers(), cluster::close);
    }

    /** How many channels of locks clients listen to. */
    long channels() {
        return data.stream()
                .mapToLong(server ->
                        TestBed.sizeOf(server.command("PUBSUB", "CHANNELS", Contestant.THIS_LIBRARY.key("*"))))
                .sum();
    }

    void kill() {
        for (int i = all.size() - 1; i >= 0; i--) {
            all.get(i).kill();
        }
    }

    void restart() {
        all.forEach(RedisServer::restart);
    }

    @Override
    public void close() {
        closing.run();
    }
}
