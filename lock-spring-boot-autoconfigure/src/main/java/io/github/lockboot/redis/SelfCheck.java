package io.github.lockboot.redis;

import java.lang.module.ModuleDescriptor.Version;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.github.lockboot.engine.LockStore;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.engine.StoreFailure;
import io.github.lockboot.engine.StoreFailure.NotAcknowledgedException;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.redis.protocol.RedisFailure;
import io.github.lockboot.redis.protocol.ScriptStore;
import io.lettuce.core.RedisCommandExecutionException;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * One check whether Redis is suitable for locks: the version, eviction policy and clock of the server, or of each master of a
 * Cluster, and whether this user may run the scripts.
 */
final class SelfCheck {

    private static final Version OLDEST = Version.parse("6.2");
    private static final long CLOCK_TOLERANCE_MILLIS = 5_000;
    private static final long TTL_MILLIS = 1_000;
    private static final String COMMANDS =
            "+ping +eval +evalsha +time +get +set +del +pttl +pexpire +publish +subscribe +unsubscribe"
                    + " +client|tracking +client|caching";

    private static final String ACKNOWLEDGING = " +role +wait +waitaof";

    private final Supplier<StringRedisTemplate> template;
    private final ScriptStore store;
    private final InstantSource clock;
    private final Set<String> products = new TreeSet<>();
    private final List<Finding> findings = new ArrayList<>();

    SelfCheck(Supplier<StringRedisTemplate> template, ScriptStore store, InstantSource clock) {
        this.template = template;
        this.store = store;
        this.clock = clock;
    }

    /** {@return the products and versions, several if the masters of a Cluster differ; empty if not known} */
    String servers() {
        return String.join(" and ", products);
    }

    List<Finding> run() {
        try (RedisConnection connection =
                template.get().getRequiredConnectionFactory().getConnection()) {
            if (connection instanceof RedisClusterConnection cluster) {
                var commands = cluster.serverCommands();
                for (RedisClusterNode node : cluster.clusterGetNodes()) {
                    if (node.isMaster() && node.isConnected()) {
                        String title = "Redis at " + node.asString();
                        checkInfo(title, () -> commands.info(node));
                        checkClock(title, () -> commands.time(node, TimeUnit.MILLISECONDS));
                    }
                }
            } else {
                var commands = connection.serverCommands();
                checkInfo("Redis", commands::info);
                checkClock("Redis", () -> commands.time(TimeUnit.MILLISECONDS));
            }
            checkScripts(connection);
        } catch (RuntimeException failure) {
            add(
                    "Redis could not be asked (" + reasonOf(failure) + ")",
                    "check spring.data.redis.* and the network; without Redis, locks fail with LockUnavailableException");
        }
        return List.copyOf(findings);
    }

    private void add(String problem, String action) {
        findings.add(new Finding(true, problem, action));
    }

    private void checkInfo(String title, Supplier<@Nullable Properties> ask) {
        Properties info;
        try {
            info = Objects.requireNonNull(ask.get());
        } catch (RuntimeException failure) {
            String problem = " does not show its version and maxmemory-policy (" + reasonOf(failure) + ")";
            findings.add(new Finding(false, title + problem, "allow INFO, or check them yourself"));
            return;
        }
        // Valkey reports the compatible version of Redis besides its own.
        String version = info.getProperty("redis_version", "");
        String valkey = info.getProperty("valkey_version");
        products.add(valkey != null ? "Valkey " + valkey : "Redis " + version);
        if (isTooOld(version)) {
            add(
                    title + " is version " + version + ", with which locks were never tested",
                    "use Redis " + OLDEST + " or newer");
        }
        // Every key of a lock has a time to live, so volatile-* evicts it as well.
        String policy = info.getProperty("maxmemory_policy", "");
        if (policy.startsWith("allkeys-") || policy.startsWith("volatile-")) {
            add(
                    title + " has maxmemory-policy " + policy
                            + ", which evicts locks that are held once maxmemory is reached",
                    "set maxmemory-policy noeviction, or use a Redis for locks that is not a cache");
        }
    }

    static boolean isTooOld(String version) {
        try {
            return Version.parse(version).compareTo(OLDEST) < 0;
        } catch (IllegalArgumentException unknown) {
            return false;
        }
    }

    private void checkClock(String title, Supplier<@Nullable Long> ask) {
        long there;
        long before = clock.millis();
        try {
            there = Objects.requireNonNull(ask.get());
        } catch (RuntimeException failure) {
            return; // the scripts need TIME, too, and report it
        }
        long after = clock.millis();
        long ahead = there > after ? there - after : Math.min(0, there - before);
        if (Math.abs(ahead) > CLOCK_TOLERANCE_MILLIS) {
            add(
                    title + " has a clock " + Math.abs(ahead) / 1_000 + " s " + (ahead > 0 ? "ahead of" : "behind")
                            + " the local one, so one of them is wrong",
                    "synchronize the clocks of all Redis servers: fencing tokens grow over a failover only if they agree");
        }
    }

    private void checkScripts(RedisConnection connection) {
        try {
            runScripts(connection);
        } catch (RuntimeException failure) {
            if (Futures.unwrap(failure) instanceof NotAcknowledgedException unacknowledged) {
                findings.add(notAcknowledged(unacknowledged));
            } else if (RedisFailure.isOfScriptText(failure)) {
                add(
                        "A proxy before Redis refuses the text of the scripts of locks (" + reasonOf(failure) + ")",
                        "switch its check of scripts off, as script_check_enable=0 does on Alibaba Cloud, or connect to Redis"
                                + " without it");
            } else {
                add(
                        "Redis does not run the scripts of locks (" + reasonOf(failure) + ")",
                        "use a master that accepts writes, and a user with these rights: ~" + store.keyOf("*") + " &"
                                + store.keyOf("*") + " " + COMMANDS
                                + (store.client().acknowledges() ? ACKNOWLEDGING : ""));
            }
        }
    }

    /** Runs every script once, on a key that is not a lock and is deleted at the end. */
    private void runScripts(RedisConnection connection) {
        String session = UUID.randomUUID().toString();
        String name = "self-check:" + session;
        String one = session + "-1";
        String other = session + "-2";
        byte[] key = store.keyOf(name).getBytes(StandardCharsets.UTF_8);
        byte[] script = "return 1".getBytes(StandardCharsets.UTF_8);
        try {
            // Redis may have cached the scripts, which then need no EVAL.
            connection.scriptingCommands().eval(script, ReturnType.INTEGER, 1, key);
            Reply taken = store.acquire(name, one, LockStore.EXCLUSIVE, TTL_MILLIS, true)
                    .join();
            long fence = taken instanceof Reply.Owner owner ? owner.fence() : 0;
            store.acquire(name, other, LockStore.EXCLUSIVE, TTL_MILLIS, true).join();
            store.renew(name, one, fence, TTL_MILLIS, late -> {}).join();
            store.renewPermits(name, List.of(new LockStore.Permit(one, fence, TTL_MILLIS)), late -> {})
                    .join();
            store.downgrade(name, one, fence, fence).join();
            store.keep(name, one, 0, TTL_MILLIS).join(); // of another grant
            store.inspect(name).join();
            store.show(name).join();
            store.unlock(name, one, fence).join();
            store.cancel(name, other).join();
            if (store.echo(session).join() instanceof Reply.Unpublished unpublished) {
                add(
                        "Redis refuses to publish messages of locks (" + unpublished.reason()
                                + "), so waiters only poll",
                        "give the user these rights: &" + store.keyOf("*") + " +publish; where the server lets scripts"
                                + " publish only on channels of the slot of their key, locks work without messages");
            }
            connection.keyCommands().pExpire(key, TTL_MILLIS); // the scripts use it only when Redis is out of memory
        } finally {
            connection.keyCommands().del(key);
        }
    }

    /** Takes a lock and gives it back. {@return why no lock would be acknowledged, if Redis refuses that} */
    Optional<Finding> checkAcknowledged() {
        String name = "self-check:" + UUID.randomUUID();
        try {
            store.acquire(name, name, LockStore.EXCLUSIVE, TTL_MILLIS, false).join();
            return Optional.empty();
        } catch (CompletionException thrown) {
            Throwable failure = Futures.unwrap(thrown);
            boolean refused = failure instanceof NotAcknowledgedException
                    && failure.getCause() instanceof RedisCommandExecutionException
                    && RedisFailure.of(failure) == StoreFailure.UNKNOWN;
            return refused ? Optional.of(notAcknowledged(failure)) : Optional.empty();
        } finally {
            store.cancel(name, name);
        }
    }

    private static Finding notAcknowledged(Throwable failure) {
        return new Finding(
                true,
                "Redis does not acknowledge grants as lock.redis.acknowledge asks for (" + reasonOf(failure)
                        + "), so locks fail with LockUnavailableException",
                "connect replicas to every master, for aof use Redis 7.2 or newer with appendonly, allow"
                        + ACKNOWLEDGING + ", or remove lock.redis.acknowledge");
    }

    private static String reasonOf(Throwable failure) {
        Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
        String message = cause.getMessage();
        return message != null ? message : cause.getClass().getSimpleName();
    }
}
