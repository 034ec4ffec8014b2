package io.github.lockboot.redis;

import java.lang.module.ModuleDescriptor.Version;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.github.lockboot.redis.protocol.AcquisitionIds;
import io.github.lockboot.redis.protocol.Reply;
import io.github.lockboot.redis.protocol.ScriptStore;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;

/**
 * Checks whether Redis is suitable for locks: the version, eviction policy and clock of the server, or of each master of a
 * Cluster, and whether this user may run the scripts.
 */
final class SelfCheck {

    private static final Version OLDEST = Version.parse("6.2");
    private static final long CLOCK_TOLERANCE_MILLIS = 5_000;
    private static final long TTL_MILLIS = 1_000;
    private static final String COMMANDS =
            "+ping +eval +evalsha +time +type +exists +pttl +hmget +hlen +hset +hdel +del"
                    + " +pexpire +publish +subscribe +unsubscribe";

    private final Supplier<? extends RedisConnectionFactory> factory;
    private final ScriptStore store;
    private final InstantSource clock;
    private volatile String servers = "";

    SelfCheck(Supplier<? extends RedisConnectionFactory> factory, ScriptStore store, InstantSource clock) {
        this.factory = factory;
        this.store = store;
        this.clock = clock;
    }

    /** The products and versions found, several if the masters of a Cluster differ, or empty if none is known. */
    String servers() {
        return servers;
    }

    List<Finding> run() {
        Set<String> products = new TreeSet<>();
        List<Finding> findings = new ArrayList<>();
        try (RedisConnection connection = factory.get().getConnection()) {
            serversOf(connection).forEach(server -> check(server, products, findings));
            checkScripts(connection, findings);
        } catch (RuntimeException failure) {
            String problem = "Redis could not be asked (" + reasonOf(failure) + ")";
            String action = "check spring.data.redis.* and the network; until then locks are refused with"
                    + " LockUnavailableException";
            findings.add(new Finding(true, problem, action));
        }
        servers = String.join(" and ", products);
        return findings;
    }

    private record Server(String title, Supplier<@Nullable Properties> info, Supplier<@Nullable Long> time) {}

    private static List<Server> serversOf(RedisConnection connection) {
        if (!(connection instanceof RedisClusterConnection cluster)) {
            var commands = connection.serverCommands();
            return List.of(new Server("Redis", commands::info, () -> commands.time(TimeUnit.MILLISECONDS)));
        }
        var commands = cluster.serverCommands();
        List<Server> masters = new ArrayList<>();
        for (RedisClusterNode node : cluster.clusterGetNodes()) {
            if (node.isMaster() && node.isConnected()) {
                masters.add(new Server(
                        "Redis at " + node.asString(),
                        () -> commands.info(node),
                        () -> commands.time(node, TimeUnit.MILLISECONDS)));
            }
        }
        return masters;
    }

    private void check(Server server, Set<String> products, List<Finding> findings) {
        try {
            Properties info = server.info.get();
            if (info != null) {
                products.add(productOf(info));
                checkInfo(server.title, info, findings);
            }
        } catch (RuntimeException failure) {
            String problem = " could not tell its version and maxmemory-policy (" + reasonOf(failure) + ")";
            findings.add(new Finding(false, server.title + problem, "allow INFO, or check them yourself"));
        }
        checkClock(server, findings);
    }

    private static String productOf(Properties info) {
        String valkey = info.getProperty("valkey_version");
        return valkey != null ? "Valkey " + valkey : "Redis " + info.getProperty("redis_version", "");
    }

    private static void checkInfo(String title, Properties info, List<Finding> findings) {
        String version = info.getProperty("redis_version", ""); // Valkey reports the compatible version of Redis here
        if (isTooOld(version)) {
            String problem = " is version " + version + ", which locks were never tested with";
            findings.add(new Finding(true, title + problem, "use Redis " + OLDEST + " or newer"));
        }
        // Every key of a lock has a time to live, so volatile-* evicts it as well.
        String policy = info.getProperty("maxmemory_policy", "");
        if (policy.startsWith("allkeys-") || policy.startsWith("volatile-")) {
            String problem =
                    " has maxmemory-policy " + policy + ", which evicts locks that are held once maxmemory is reached";
            String action = "set maxmemory-policy noeviction, or keep locks on a Redis that is no cache";
            findings.add(new Finding(true, title + problem, action));
        }
    }

    static boolean isTooOld(String version) {
        try {
            return Version.parse(version).compareTo(OLDEST) < 0;
        } catch (IllegalArgumentException unknown) {
            return false;
        }
    }

    private void checkClock(Server server, List<Finding> findings) {
        Long there;
        long before = clock.millis();
        try {
            there = server.time.get();
        } catch (RuntimeException failure) {
            return; // The scripts need TIME, too, and report it.
        }
        long after = clock.millis();
        long ahead = there == null ? 0 : there > after ? there - after : Math.min(0, there - before);
        if (Math.abs(ahead) > CLOCK_TOLERANCE_MILLIS) {
            String problem = " has a clock " + Math.abs(ahead) / 1_000 + " s " + (ahead > 0 ? "ahead of" : "behind")
                    + " the one here, so one of them is wrong";
            String action = "synchronize the clocks of all Redis servers: fencing tokens grow over a failover only if"
                    + " they agree";
            findings.add(new Finding(true, server.title + problem, action));
        }
    }

    private void checkScripts(RedisConnection connection, List<Finding> findings) {
        try {
            runScripts(connection, AcquisitionIds.random().session());
        } catch (RuntimeException failure) {
            String problem = "Redis does not run the scripts of locks (" + reasonOf(failure) + ")";
            String action = "use a master that accepts writes, and a user with these rights: ~" + store.keyOf("*")
                    + " &" + store.keyOf("*") + " " + COMMANDS;
            findings.add(new Finding(true, problem, action));
        }
    }

    /** Runs every script once, on a key that no lock has and that is gone afterwards. */
    private void runScripts(RedisConnection connection, String session) {
        String name = "self-check:" + session;
        String one = session + "-1";
        String other = session + "-2";
        byte[] key = bytes(store.keyOf(name));
        try {
            // A script that Redis has already cached would not need EVAL.
            connection.scriptingCommands().eval(bytes("return 1"), ReturnType.INTEGER, 1, key);
            Reply taken = store.acquire(name, one, TTL_MILLIS, true).join();
            long token = taken instanceof Reply.Owner owner ? owner.fence() : 0;
            store.acquire(name, other, TTL_MILLIS, true).join();
            store.renew(name, one, token, TTL_MILLIS).join();
            store.inspect(name).join();
            store.unlock(name, one, token).join();
            store.complete(name, other, token).join();
            store.cancel(name, other).join();
            store.echo(session).join();
            connection.keyCommands().pTtl(key); // The scripts use it only for keys that are no locks.
        } finally {
            connection.keyCommands().del(key);
        }
    }

    private static String reasonOf(Throwable failure) {
        Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
        String message = cause.getMessage();
        return message != null ? message : cause.getClass().getSimpleName();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
