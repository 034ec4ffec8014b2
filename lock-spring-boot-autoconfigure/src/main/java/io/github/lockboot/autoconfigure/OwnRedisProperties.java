package io.github.lockboot.autoconfigure;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The server that is for locks only, in the words of {@code spring.data.redis}. Apart from {@link LockProperties},
 * because an application without such a server need not bind them.
 *
 * @param url URL of the Redis that is for locks only, redis://user:password@host:port/database, or rediss:// for TLS.
 * @param host Host of the Redis that is for locks only.
 * @param port Port of that Redis. 6379 by default.
 * @param username User of that Redis.
 * @param password Password of that Redis.
 * @param database Number of the database for locks.
 * @param clientName Name of its connections, before '-lock-' and the session.
 * @param ssl TLS to that Redis.
 * @param sentinel Sentinels that know the master for locks.
 * @param cluster The Cluster that is for locks only.
 */
@ConfigurationProperties("lock.redis")
record OwnRedisProperties(
        @Nullable String url,
        @Nullable String host,
        @Nullable Integer port,
        @Nullable String username,
        @Nullable String password,
        @Nullable Integer database,
        @Nullable String clientName,
        @Nullable Ssl ssl,
        @Nullable Sentinel sentinel,
        @Nullable Cluster cluster) {

    /**
     * @param enabled Whether to use TLS. True if there is a bundle.
     * @param bundle Name of the SSL bundle.
     */
    record Ssl(@Nullable Boolean enabled, @Nullable String bundle) {}

    /**
     * @param master Name of the master for locks.
     * @param nodes Sentinels, as host:port.
     * @param username User of the Sentinels.
     * @param password Password of the Sentinels.
     */
    record Sentinel(
            @Nullable String master,
            @DefaultValue List<String> nodes,
            @Nullable String username,
            @Nullable String password) {}

    /** @param nodes Some nodes of the Cluster that is for locks only, as host:port. */
    record Cluster(@DefaultValue List<String> nodes) {}

    private static final String SENTINEL = "sentinel.nodes";
    private static final String CLUSTER = "cluster.nodes";

    /** What would have no effect beside it. */
    private static final Map<String, List<String>> EXCLUDED = Map.of(
            "url",
            List.of("host", "port", "username", "password", "database", SENTINEL, CLUSTER),
            SENTINEL,
            List.of("host", "port", CLUSTER),
            CLUSTER,
            List.of("host", "port", "database"));

    /** Spring Boot needs the port, and can parse no other user and password. */
    private static final String URL = "rediss?://(([\\w.~!$&'()*+,;=:-]|%\\p{XDigit}{2})*@)?"
            + "([A-Za-z0-9.-]+|\\[[\\p{XDigit}:.]+]):\\d{1,5}(/\\d{0,9})?";

    boolean isSet() {
        return !present().isEmpty();
    }

    private Set<String> present() {
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("url", url);
        all.put("host", host);
        all.put(SENTINEL, sentinel);
        all.put(CLUSTER, cluster);
        all.put("port", port);
        all.put("username", username);
        all.put("password", password);
        all.put("database", database);
        all.put("client-name", clientName);
        all.put("ssl", ssl);
        all.values().removeIf(value -> value == null || value.equals(""));
        return all.keySet();
    }

    /** Rejects an address that is missing, malformed or one of two. No message has a password. */
    void requireOneAddress() {
        Set<String> present = present();
        for (String name : present) {
            for (String other : EXCLUDED.getOrDefault(name, List.of())) {
                require(
                        !present.contains(other),
                        "lock.redis." + name + " and lock.redis." + other + " are both set",
                        "remove one of them; a URL has the user, the password and the database, too");
            }
        }
        require(
                present.contains("host") || present.stream().anyMatch(EXCLUDED::containsKey),
                "lock.redis." + String.join(", ", present) + " is set, but no address",
                "set lock.redis.url, host, sentinel.nodes or cluster.nodes, too, or remove it");
        require(
                !present.contains("url") || String.valueOf(url).matches(URL),
                "lock.redis.url is not the URL of a server",
                "write redis://user:password@host:port/database, or rediss:// for TLS, and encode special characters"
                        + " as %40");
        if (sentinel != null) {
            require(
                    sentinel.master != null && !sentinel.master.isEmpty(),
                    "lock.redis.sentinel.nodes needs lock.redis.sentinel.master",
                    "set the name of the master");
            requirePorts(SENTINEL, sentinel.nodes);
        }
        if (cluster != null) {
            requirePorts(CLUSTER, cluster.nodes);
        }
    }

    private static void requirePorts(String name, List<String> nodes) {
        require(
                !nodes.isEmpty() && nodes.stream().allMatch(node -> node.matches("\\S+:\\d{1,5}")),
                "lock.redis." + name + " is " + nodes,
                "write each node as host:port");
    }

    /** @param names of the SSL bundles that there are */
    void requireBundle(List<String> names) {
        require(
                ssl == null || ssl.bundle == null || ssl.bundle.isEmpty() || names.contains(ssl.bundle),
                "lock.redis.ssl.bundle is none of the SSL bundles " + names,
                "define it by spring.ssl.bundle.*, or correct the name");
    }

    private static void require(boolean valid, String problem, String action) {
        if (!valid) {
            throw new LockStartupException(problem, action);
        }
    }
}
