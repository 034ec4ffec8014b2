package io.github.lockboot.harness;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

import org.redisson.config.BaseConfig;
import org.redisson.config.Config;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Where a client finds Redis, in a word that can be handed to a process.
 *
 * @param kind how it is organized
 * @param nodes {@code host:port} of the server, of the Sentinels, of nodes of the Cluster, or of the master and its
 *     replicas
 * @param master the name the Sentinels give the master; else {@code -}
 * @param login {@code user:password} of one server; else {@code -}
 */
public record RedisAddress(Kind kind, List<String> nodes, String master, String login) {

    private static final String NONE = "-";

    /** How servers are organized. */
    public enum Kind {
        STANDALONE,
        SENTINEL,
        CLUSTER,
        STATIC_REPLICAS
    }

    public static RedisAddress standalone(String host, int port) {
        return new RedisAddress(Kind.STANDALONE, List.of(host + ":" + port), NONE, NONE);
    }

    public static RedisAddress sentinel(String master, List<String> sentinels) {
        return new RedisAddress(Kind.SENTINEL, sentinels, master, NONE);
    }

    public static RedisAddress cluster(List<String> nodes) {
        return new RedisAddress(Kind.CLUSTER, nodes, NONE, NONE);
    }

    /** @param nodes the master, then its replicas */
    public static RedisAddress staticReplicas(List<String> nodes) {
        return new RedisAddress(Kind.STATIC_REPLICAS, nodes, NONE, NONE);
    }

    /** The same for a user of the server. */
    public RedisAddress as(String user, String password) {
        return new RedisAddress(kind, nodes, master, user + ":" + password);
    }

    /** Whether it is that of a user, whose password may change. */
    boolean hasLogin() {
        return !login.equals(NONE);
    }

    public String toWord() {
        return kind + "|" + master + "|" + String.join(",", nodes) + "|" + login;
    }

    public static RedisAddress parse(String word) {
        String[] parts = word.split("\\|");
        return new RedisAddress(Kind.valueOf(parts[0]), List.of(parts[2].split(",")), parts[1], parts[3]);
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

    static LettuceConnectionFactory started(LettuceConnectionFactory factory) {
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    /** The same for any of Spring's clients. */
    public RedisConfiguration configuration() {
        return switch (kind) {
            case STANDALONE -> standalone();
            case SENTINEL -> new RedisSentinelConfiguration(master, Set.copyOf(nodes));
            case CLUSTER -> new RedisClusterConfiguration(nodes);
            case STATIC_REPLICAS -> {
                RedisStaticMasterReplicaConfiguration fixed =
                        new RedisStaticMasterReplicaConfiguration(host(0), port(0));
                IntStream.range(1, nodes.size()).forEach(node -> fixed.addNode(host(node), port(node)));
                yield fixed;
            }
        };
    }

    private RedisStandaloneConfiguration standalone() {
        RedisStandaloneConfiguration one = new RedisStandaloneConfiguration(host(0), port(0));
        if (hasLogin()) {
            one.setUsername(login.split(":")[0]);
            one.setPassword(login.split(":")[1]);
        }
        return one;
    }

    private String host(int node) {
        return nodes.get(node).split(":")[0];
    }

    private int port(int node) {
        return Integer.parseInt(nodes.get(node).split(":")[1]);
    }

    /** Has the servers in the configuration. */
    public BaseConfig<?> forRedisson(Config config) {
        String[] addresses = nodes.stream().map(node -> "redis://" + node).toArray(String[]::new);
        return switch (kind) {
            case STANDALONE -> config.useSingleServer().setAddress(addresses[0]);
            case SENTINEL -> config.useSentinelServers().setMasterName(master).addSentinelAddress(addresses);
            case CLUSTER -> config.useClusterServers().addNodeAddress(addresses);
            case STATIC_REPLICAS -> throw new UnsupportedOperationException("static replicas");
        };
    }
}
