package io.github.lockboot.harness;

import java.time.Duration;
import java.util.List;
import java.util.Set;

import org.redisson.config.BaseConfig;
import org.redisson.config.Config;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Where a client finds Redis, in a word that can be handed to a process.
 *
 * @param kind how it is organized
 * @param nodes {@code host:port} of the server, of the Sentinels, or of nodes of the Cluster
 * @param master the name the Sentinels give the master; else {@code -}
 */
public record RedisAddress(Kind kind, List<String> nodes, String master) {

    /** How servers are organized. */
    public enum Kind {
        STANDALONE,
        SENTINEL,
        CLUSTER
    }

    public static RedisAddress standalone(String host, int port) {
        return new RedisAddress(Kind.STANDALONE, List.of(host + ":" + port), "-");
    }

    public static RedisAddress sentinel(String master, List<String> sentinels) {
        return new RedisAddress(Kind.SENTINEL, sentinels, master);
    }

    public static RedisAddress cluster(List<String> nodes) {
        return new RedisAddress(Kind.CLUSTER, nodes, "-");
    }

    public String toWord() {
        return kind + "|" + master + "|" + String.join(",", nodes);
    }

    public static RedisAddress parse(String word) {
        String[] parts = word.split("\\|");
        return new RedisAddress(Kind.valueOf(parts[0]), List.of(parts[2].split(",")), parts[1]);
    }

    /** Spring's connections to it, with Lettuce's defaults. */
    public LettuceConnectionFactory forSpring() {
        return started(new LettuceConnectionFactory(configuration()));
    }

    LettuceConnectionFactory forSpring(Duration commandTimeout) {
        return started(new LettuceConnectionFactory(
                configuration(),
                LettuceClientConfiguration.builder()
                        .commandTimeout(commandTimeout)
                        .build()));
    }

    private static LettuceConnectionFactory started(LettuceConnectionFactory factory) {
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    private RedisConfiguration configuration() {
        return switch (kind) {
            case STANDALONE -> {
                String[] parts = nodes.get(0).split(":");
                yield new RedisStandaloneConfiguration(parts[0], Integer.parseInt(parts[1]));
            }
            case SENTINEL -> new RedisSentinelConfiguration(master, Set.copyOf(nodes));
            case CLUSTER -> new RedisClusterConfiguration(nodes);
        };
    }

    /** Has the servers in the configuration. */
    BaseConfig<?> forRedisson(Config config) {
        String[] addresses = nodes.stream().map(node -> "redis://" + node).toArray(String[]::new);
        return switch (kind) {
            case STANDALONE -> config.useSingleServer().setAddress(addresses[0]);
            case SENTINEL -> config.useSentinelServers().setMasterName(master).addSentinelAddress(addresses);
            case CLUSTER -> config.useClusterServers().addNodeAddress(addresses);
        };
    }
}
