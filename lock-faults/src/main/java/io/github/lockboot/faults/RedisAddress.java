package io.github.lockboot.faults;

import java.util.List;

import org.redisson.config.Config;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

/**
 * Where a client finds Redis, in a word that can be handed to a process.
 *
 * @param kind how it is organized
 * @param nodes {@code host:port} of the server, of the Sentinels, or of nodes of the Cluster
 * @param master the name the Sentinels give the master; else {@code -}
 */
record RedisAddress(Kind kind, List<String> nodes, String master) {

    enum Kind {
        STANDALONE,
        SENTINEL,
        CLUSTER
    }

    static RedisAddress standalone(String host, int port) {
        return new RedisAddress(Kind.STANDALONE, List.of(host + ":" + port), "-");
    }

    static RedisAddress sentinel(String master, List<String> sentinels) {
        return new RedisAddress(Kind.SENTINEL, sentinels, master);
    }

    static RedisAddress cluster(List<String> nodes) {
        return new RedisAddress(Kind.CLUSTER, nodes, "-");
    }

    String toWord() {
        return kind + "|" + master + "|" + String.join(",", nodes);
    }

    static RedisAddress parse(String word) {
        String[] parts = word.split("\\|");
        return new RedisAddress(Kind.valueOf(parts[0]), List.of(parts[2].split(",")), parts[1]);
    }

    RedisConfiguration forSpring() {
        return switch (kind) {
            case STANDALONE -> {
                String[] parts = nodes.get(0).split(":");
                yield new RedisStandaloneConfiguration(parts[0], Integer.parseInt(parts[1]));
            }
            case SENTINEL -> {
                RedisSentinelConfiguration sentinel = new RedisSentinelConfiguration().master(master);
                nodes.forEach(node -> {
                    String[] parts = node.split(":");
                    sentinel.sentinel(parts[0], Integer.parseInt(parts[1]));
                });
                yield sentinel;
            }
            case CLUSTER -> new RedisClusterConfiguration(nodes);
        };
    }

    Config forRedisson(int timeoutMillis) {
        Config config = new Config();
        String[] addresses = nodes.stream().map(node -> "redis://" + node).toArray(String[]::new);
        switch (kind) {
            case STANDALONE -> config.useSingleServer().setAddress(addresses[0]).setTimeout(timeoutMillis);
            case SENTINEL ->
                config.useSentinelServers()
                        .setMasterName(master)
                        .addSentinelAddress(addresses)
                        .setTimeout(timeoutMillis);
            case CLUSTER -> config.useClusterServers().addNodeAddress(addresses).setTimeout(timeoutMillis);
        }
        return config;
    }
}
