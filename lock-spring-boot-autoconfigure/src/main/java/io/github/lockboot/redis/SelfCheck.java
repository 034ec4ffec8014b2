package io.github.lockboot.redis;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.lockboot.redis.RedisLockRegistry.Finding;
import io.github.lockboot.redis.protocol.AcquisitionIds;
import io.github.lockboot.redis.protocol.LockStore;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** What a real Redis, or each master of a Cluster, tells about itself, and whether our scripts run there. */
final class SelfCheck {

    private static final Pattern VERSION = Pattern.compile("(\\d{1,5})\\.(\\d{1,5})");
    private static final int OLDEST_MAJOR = 6;
    private static final int OLDEST_MINOR = 2;
    private static final Duration CLOCK_TOLERANCE = Duration.ofSeconds(5);
    private static final int NAMES_TRIED_FOR_A_MASTER = 2_000;

    private final Supplier<? extends RedisConnectionFactory> factory;
    private final LockStore store;
    private final Executor workers;
    private final Duration commandTimeout;
    private final InstantSource clock;
    private volatile String servers = "";

    SelfCheck(
            Supplier<? extends RedisConnectionFactory> factory,
            LockStore store,
            Executor workers,
            Duration commandTimeout) {
        this(factory, store, workers, commandTimeout, InstantSource.system());
    }

    SelfCheck(
            Supplier<? extends RedisConnectionFactory> factory,
            LockStore store,
            Executor workers,
            Duration commandTimeout,
            InstantSource clock) {
        this.factory = factory;
        this.store = store;
        this.workers = workers;
        this.commandTimeout = commandTimeout;
        this.clock = clock;
    }

    /** What was asked, by name and version; more than one in a Cluster whose masters differ, empty if none has told. */
    String servers() {
        return servers;
    }

    List<Finding> run() {
        Set<String> told = new TreeSet<>();
        List<Finding> findings = new ArrayList<>();
        String session = AcquisitionIds.random().session();
        PermissionCheck permissions = new PermissionCheck(factory, store, workers, commandTimeout, session);
        try (RedisConnection connection = factory.get().getConnection()) {
            if (connection instanceof RedisClusterConnection cluster) {
                for (RedisClusterNode node : cluster.clusterGetNodes()) {
                    if (node.isMaster() && node.isConnected()) {
                        checkMaster(cluster, node, permissions, told, findings);
                    }
                }
            } else {
                check(new Server("Redis", connection, null), told, findings);
                permissions.check("Redis", connection, nameOf(session, 0), findings);
            }
            if (findings.stream().noneMatch(Finding::certain)) {
                permissions.checkSubscription(findings);
            }
        } catch (RuntimeException failure) {
            findings.add(new Finding(
                    true,
                    "Redis could not be asked (" + reasonOf(failure) + ")",
                    "check spring.data.redis.* and the network; until then locks are refused with"
                            + " LockUnavailableException"));
        }
        servers = String.join(" and ", told);
        return findings;
    }

    private void checkMaster(
            RedisClusterConnection cluster,
            RedisClusterNode node,
            PermissionCheck permissions,
            Set<String> servers,
            List<Finding> findings) {
        String title = "Redis at " + node.asString();
        check(new Server(title, cluster, node), servers, findings);
        for (int i = 0; i < NAMES_TRIED_FOR_A_MASTER; i++) {
            String name = nameOf(permissions.session(), i);
            RedisClusterNode owner = cluster.clusterGetNodeForKey(PermissionCheck.bytes(store.keyOf(name)));
            if (owner != null && owner.asString().equals(node.asString())) {
                permissions.check(title, cluster, name, findings);
                return;
            }
        }
    }

    private static String nameOf(String session, int number) {
        return "self-check:" + session + ":" + number;
    }

    /** One server, or one master of a Cluster. */
    private record Server(
            String title,
            RedisConnection connection,
            @Nullable RedisClusterNode node) {

        private @Nullable Properties info() {
            return node == null
                    ? connection.serverCommands().info()
                    : cluster().serverCommands().info(node);
        }

        private @Nullable Properties config(String pattern) {
            return node == null
                    ? connection.serverCommands().getConfig(pattern)
                    : cluster().serverCommands().getConfig(node, pattern);
        }

        private @Nullable Long time() {
            return node == null
                    ? connection.serverCommands().time(TimeUnit.MILLISECONDS)
                    : cluster().serverCommands().time(node, TimeUnit.MILLISECONDS);
        }

        private RedisClusterConnection cluster() {
            return (RedisClusterConnection) connection;
        }
    }

    private void check(Server server, Set<String> servers, List<Finding> findings) {
        Properties info = ask(server, "INFO", server::info, "its version", findings);
        if (info != null) {
            String version = info.getProperty("redis_version", ""); // Valkey has one, too: the Redis that it equals
            String valkey = info.getProperty("valkey_version");
            servers.add(valkey != null ? "Valkey " + valkey : "Redis " + version);
            checkVersion(server, version, findings);
        }
        String policy = info != null ? info.getProperty("maxmemory_policy") : null;
        if (policy == null) {
            Properties config = ask(
                    server, "CONFIG GET", () -> server.config("maxmemory-policy"), "its maxmemory-policy", findings);
            policy = config != null ? config.getProperty("maxmemory-policy") : null;
        }
        if (policy != null) {
            checkEviction(server, policy, findings);
        }
        checkClock(server, findings);
    }

    private static <T> @Nullable T ask(
            Server server, String command, Supplier<@Nullable T> question, String what, List<Finding> findings) {
        try {
            return question.get();
        } catch (RuntimeException failure) {
            findings.add(new Finding(
                    false,
                    server.title + ": " + what + " could not be checked (" + reasonOf(failure) + ")",
                    "allow " + command + ", or look yourself"));
            return null;
        }
    }

    private static void checkVersion(Server server, String version, List<Finding> findings) {
        if (isTooOld(version)) {
            findings.add(new Finding(
                    true,
                    server.title + " is version " + version + ", which locks were never tested with",
                    "use Redis " + OLDEST_MAJOR + "." + OLDEST_MINOR + " or newer"));
        }
    }

    static boolean isTooOld(String version) {
        Matcher parts = VERSION.matcher(version);
        if (!parts.lookingAt()) {
            return false;
        }
        int major = Integer.parseInt(parts.group(1));
        return major < OLDEST_MAJOR || major == OLDEST_MAJOR && Integer.parseInt(parts.group(2)) < OLDEST_MINOR;
    }

    /** Every key of ours has a TTL, so volatile-* evicts it as much as allkeys-* does. */
    private static void checkEviction(Server server, String policy, List<Finding> findings) {
        if (policy.startsWith("allkeys-") || policy.startsWith("volatile-")) {
            findings.add(new Finding(
                    true,
                    server.title + " has maxmemory-policy " + policy
                            + ", which evicts locks that are held once maxmemory is reached",
                    "set maxmemory-policy noeviction, or keep locks on a Redis that is no cache"));
        }
    }

    private void checkClock(Server server, List<Finding> findings) {
        Long there;
        long before = clock.millis();
        try {
            there = server.time();
        } catch (RuntimeException failure) {
            return; // the scripts need TIME too, and tell
        }
        long after = clock.millis();
        if (there == null) {
            return;
        }
        long ahead = there > after ? there - after : there < before ? there - before : 0;
        if (Math.abs(ahead) > CLOCK_TOLERANCE.toMillis()) {
            findings.add(
                    new Finding(
                            true,
                            server.title + " has a clock " + Math.abs(ahead) / 1_000 + " s "
                                    + (ahead > 0 ? "ahead of" : "behind") + " the one here, so one of them is wrong",
                            "synchronize the clocks of all Redis servers: fencing tokens grow over a failover only if they agree"));
        }
    }

    static String reasonOf(Throwable failure) {
        Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
        String message = cause.getMessage();
        return message != null ? message : cause.getClass().getSimpleName();
    }
}
