package io.github.lockboot.redis;

import java.lang.module.ModuleDescriptor.Version;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import io.github.lockboot.engine.GrantChannel;
import io.github.lockboot.engine.StoreFailure;
import io.github.lockboot.engine.StoreFailure.GrantedTooLateException;
import io.github.lockboot.engine.StoreFailure.NotAcknowledgedException;
import io.github.lockboot.internal.Failures;
import io.github.lockboot.internal.Logs;
import io.github.lockboot.redis.protocol.RedisFailure;
import io.github.lockboot.redis.protocol.ScriptStore;
import io.lettuce.core.RedisCommandExecutionException;
import org.apache.commons.logging.Log;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Reports why a registry could not connect, and checks the version and eviction policy of the server, or of each master
 * of a Cluster. Each problem is reported with an action.
 */
final class SelfCheck {

    private static final Log log = Logs.of(SelfCheck.class);

    private static final Version OLDEST = Version.parse("6.2");
    private static final String COMMANDS =
            "+ping +eval +evalsha +time +get +set +del +pttl +pexpire +publish +pubsub|numsub +subscribe +unsubscribe"
                    + " +client|tracking +client|caching";

    /** Enough names that a node without all slots does not have all of them. */
    private static final int NAMES_TRIED = 50;

    private static final String ACKNOWLEDGING = " +role +wait +waitaof";

    private static final Pattern REFUSAL_OF_CHANNEL =
            Pattern.compile("^Redis\\hrefuses\\hto\\hpublish\\h|\\bNOPERM\\h|\\bunknown\\hcommand\\b");

    private final Supplier<StringRedisTemplate> template;
    private final ScriptStore store;
    private final String properties;
    private final Set<String> products = new TreeSet<>();
    private final List<Finding> findings = new ArrayList<>();
    private boolean couldNotAsk;
    private boolean notOneServer;

    /** @param properties the prefix of the properties of the connection, as in {@code spring.data.redis} */
    SelfCheck(Supplier<StringRedisTemplate> template, ScriptStore store, String properties) {
        this.template = template;
        this.store = store;
        this.properties = properties;
    }

    /** {@return the products and versions, several if the masters of a Cluster differ; empty if not known} */
    String servers() {
        return String.join(" and ", products);
    }

    /** {@return the problems found} */
    List<Finding> findings() {
        return List.copyOf(findings);
    }

    /** Whether connecting failed because there was no connection, or no answer in time. */
    boolean couldNotAsk() {
        return couldNotAsk;
    }

    /** Logs the problems, unless Redis could not be checked. */
    void log() {
        if (!couldNotAsk) {
            findings.forEach(finding -> log.warn(finding.toString()));
        }
    }

    /**
     * Reads INFO once, if there is a connection.
     *
     * @param channel has been opened
     * @param notConnected why connecting has failed; null if it has not
     */
    void run(GrantChannel channel, @Nullable Throwable notConnected) {
        Throwable failure =
                notConnected != null && notConnected.getCause() != null ? notConnected.getCause() : notConnected;
        couldNotAsk = failure != null && isUnanswered(failure);
        if (failure == null || RedisFailure.of(failure) != StoreFailure.NOT_SENT) {
            readInfo(failure == null);
        }
        if (notOneServer) {
            return; // which explains the rest
        }
        if (failure != null) {
            addFailure(failure);
        } else if (channel.problem() != null) {
            addProblem(channel.problem());
        }
    }

    private void readInfo(boolean warning) {
        try (RedisConnection connection =
                template.get().getRequiredConnectionFactory().getConnection()) {
            checkServers(connection);
        } catch (RuntimeException failure) {
            if (warning) {
                log.warn("Redis does not show its version and maxmemory-policy (" + Failures.reasonOf(failure)
                        + "): allow INFO, or check them yourself");
            }
        }
    }

    /** Of the channel. It may also be an outage that is over, or that of a factory that was stopped meanwhile. */
    private void addProblem(String problem) {
        add(
                problem,
                REFUSAL_OF_CHANNEL.matcher(problem).find()
                        ? "give the user these rights: &" + store.keyOf("*") + " +publish +subscribe +unsubscribe;"
                                + " where the server lets scripts publish only on channels of the slot of their key,"
                                + " locks work without messages"
                        : "check " + properties + ".* and the network; until the channel works, locks are slower");
    }

    private void addNodeOfCluster(Throwable refusal) {
        notOneServer = true;
        add(
                "Redis is a node of a Cluster and does not have all locks, but is used as a single server ("
                        + Failures.reasonOf(refusal) + ")",
                "set " + properties + ".cluster.nodes instead of " + properties + ".host and " + properties + ".url");
    }

    /** A Cluster of one node, or behind a proxy, has all locks at its address. */
    private void checkHasAllLocks(RedisConnection connection) {
        for (int i = 0; i < NAMES_TRIED && !notOneServer; i++) {
            try {
                connection.stringCommands().get(store.keyOf("startup:" + i).getBytes(StandardCharsets.UTF_8));
            } catch (RuntimeException refused) {
                if (RedisFailure.isOfRedirection(refused)) {
                    addNodeOfCluster(refused);
                }
            }
        }
    }

    private void add(String problem, String action) {
        findings.add(new Finding(false, problem, action));
    }

    private void addFailure(Throwable failure) {
        if (failure instanceof NotAcknowledgedException) {
            boolean refused = failure.getCause() instanceof RedisCommandExecutionException
                    && RedisFailure.of(failure) == StoreFailure.UNKNOWN;
            findings.add(new Finding(
                    refused,
                    "Redis does not acknowledge grants as lock.redis.acknowledge requires ("
                            + Failures.reasonOf(failure) + "), so locks fail with LockUnavailableException",
                    "connect replicas to every master, for aof use Redis 7.2 or newer with appendonly, allow"
                            + ACKNOWLEDGING + ", or remove lock.redis.acknowledge"));
        } else if (RedisFailure.isOfRedirection(failure) && store.client().failureOf(failure) != StoreFailure.NOT_NOW) {
            addNodeOfCluster(failure);
        } else if (RedisFailure.isOfScriptText(failure)) {
            add(
                    "A proxy in front of Redis rejects the lock scripts (" + Failures.reasonOf(failure) + ")",
                    "disable its script check, as script_check_enable=0 does on Alibaba Cloud, or connect to Redis"
                            + " without it");
        } else if (isUnanswered(failure)) {
            add(
                    "Redis could not be checked (" + Failures.reasonOf(failure) + ")",
                    "check " + properties
                            + ".* and the network; without Redis, locks fail with LockUnavailableException");
        } else {
            add(
                    "Redis rejected the lock scripts (" + Failures.reasonOf(failure) + ")",
                    "use a master that accepts writes, a server with Lua, and a user with these rights: ~"
                            + store.keyOf("*") + " &" + store.keyOf("*") + " " + COMMANDS
                            + (store.client().acknowledges() ? ACKNOWLEDGING : ""));
        }
    }

    private static boolean isUnanswered(Throwable failure) {
        return RedisFailure.of(failure) == StoreFailure.NOT_SENT
                || failure instanceof TimeoutException
                || failure instanceof GrantedTooLateException
                || failure instanceof RedisConnectionFailureException;
    }

    private void checkServers(RedisConnection connection) {
        if (connection instanceof RedisClusterConnection cluster) {
            for (RedisClusterNode node : cluster.clusterGetNodes()) {
                if (node.isMaster() && node.isConnected()) {
                    checkServer(
                            "Redis at " + node.asString(),
                            cluster.serverCommands().info(node));
                }
            }
        } else {
            String mode = checkServer("Redis", connection.serverCommands().info());
            if (mode.equals("sentinel")) {
                notOneServer = true;
                add(
                        "Redis is a Sentinel, which has no locks",
                        "set " + properties + ".sentinel.master and " + properties + ".sentinel.nodes instead of "
                                + properties + ".host and " + properties + ".url");
            } else if (mode.equals("cluster")) {
                checkHasAllLocks(connection);
            }
        }
    }

    /** {@return the mode of the server} */
    private String checkServer(String title, @Nullable Properties answer) {
        Properties info = Objects.requireNonNull(answer);
        // Valkey reports the compatible version of Redis besides its own.
        String version = info.getProperty("redis_version", "");
        String valkey = info.getProperty("valkey_version");
        products.add(valkey != null ? "Valkey " + valkey : "Redis " + version);
        if (isTooOld(version)) {
            add(title + " is version " + version + ", which was never tested", "use Redis " + OLDEST + " or newer");
        }
        // Every key of a lock has a time to live, so volatile-* evicts it as well.
        String policy = info.getProperty("maxmemory_policy", "");
        if (policy.startsWith("allkeys-") || policy.startsWith("volatile-")) {
            add(
                    title + " has maxmemory-policy " + policy
                            + ", which evicts locks that are held once maxmemory is reached",
                    "set maxmemory-policy noeviction, or use a Redis for locks that is not a cache");
        }
        return info.getProperty("redis_mode", "");
    }

    static boolean isTooOld(String version) {
        try {
            return Version.parse(version).compareTo(OLDEST) < 0;
        } catch (IllegalArgumentException unknown) {
            return false;
        }
    }
}
