package io.github.lockboot.redis.connection;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.protocol.ScriptStore;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * The connections of a registry.
 *
 * @param template the template for all commands; made at the first call, and made again when the application has a new
 *     client
 */
public record Connections(Supplier<StringRedisTemplate> template, ScriptStore.Runner runner) {

    /** What must acknowledge a grant in addition to the master. */
    public enum AcknowledgedBy {
        NOTHING,
        ONE_REPLICA,
        /** All replicas that are connected, but at least one. */
        ALL_REPLICAS,
        /** The append-only file of the master itself. */
        APPEND_ONLY_FILE
    }

    private static final int SHOWN_OF_SESSION = 8;

    /**
     * @param sharing whether to use the connections of the factory instead of new ones with the same settings; ignored
     *     if leases must be acknowledged, because Redis runs nothing else on a connection that waits, and if the
     *     factory does not share its connections, because each is then closed, or goes to another user, after use
     * @param acknowledgedBy what must acknowledge a grant
     * @param session begins the ids of the registry; its first characters are in the names of connections that are made
     * @param workers for blocking tasks
     */
    public static Connections to(
            RedisConnectionFactory factory,
            boolean sharing,
            AcknowledgedBy acknowledgedBy,
            Duration commandTimeout,
            Supplier<String> session,
            Timer timer,
            Executor workers) {
        LettuceConnectionFactory lettuce = ApplicationFactory.ofLettuce(factory);
        if (lettuce != null && !shares(lettuce, sharing, acknowledgedBy)) {
            OwnConnection own = new OwnConnection(lettuce, commandTimeout, session, timer, workers);
            Acknowledger acknowledger = acknowledgedBy == AcknowledgedBy.NOTHING
                    ? null
                    : new Acknowledger(acknowledgedBy, commandTimeout, timer);
            return new Connections(own::template, new LettuceScripts(own::template, timer, workers, own, acknowledger));
        }
        StringRedisTemplate template = new StringRedisTemplate(factory);
        ScriptStore.Runner runner = lettuce == null
                ? new BlockingScripts(template, workers, !Boolean.FALSE.equals(property(factory, "redisClusterAware")))
                : new LettuceScripts(() -> template, timer, workers, null, null);
        return new Connections(() -> template, runner);
    }

    /**
     * Checks, without connecting, that connections can be made.
     *
     * @throws IllegalStateException if the settings of the factory cannot be read, or no grant could be acknowledged
     */
    public static void requireSettings(RedisConnectionFactory factory, boolean sharing, AcknowledgedBy acknowledgedBy) {
        LettuceConnectionFactory lettuce = ApplicationFactory.ofLettuce(factory);
        if (lettuce != null) {
            boolean fixed = !shares(lettuce, sharing, acknowledgedBy)
                    && ApplicationFactory.requireSettings(lettuce) instanceof RedisStaticMasterReplicaConfiguration;
            if (fixed && acknowledgedBy != AcknowledgedBy.NOTHING) {
                throw new IllegalStateException(
                        "lock.redis.acknowledge does not work with a fixed list of master and replicas; use Sentinel or a"
                                + " Cluster, or the address of the master alone");
            }
        } else if (acknowledgedBy != AcknowledgedBy.NOTHING) {
            throw new IllegalStateException(
                    "lock.redis.acknowledge needs Lettuce as the client of Redis, but there is a "
                            + factory.getClass().getSimpleName() + "; use Lettuce, or remove the property");
        }
    }

    private static boolean shares(LettuceConnectionFactory factory, boolean sharing, AcknowledgedBy acknowledgedBy) {
        return sharing && acknowledgedBy == AcknowledgedBy.NOTHING && factory.getShareNativeConnection();
    }

    /**
     * {@return the first characters of a session, which an operator finds in ids, in the names of connections and in
     * the log}
     */
    public static String shown(String session) {
        return session.substring(0, SHOWN_OF_SESSION);
    }

    /**
     * {@return the number of the database, or 0 if the factory does not say} A channel belongs to all databases of a
     * server.
     */
    public static int databaseOf(RedisConnectionFactory factory) {
        LettuceConnectionFactory lettuce = ApplicationFactory.ofLettuce(factory);
        if (lettuce != null) {
            return lettuce.getDatabase();
        }
        return property(factory, "database") instanceof Integer number ? number : 0;
    }

    /** Of another client than Lettuce, whose classes may not be there; null if the factory does not have it. */
    private static @Nullable Object property(RedisConnectionFactory factory, String name) {
        BeanWrapper other = PropertyAccessorFactory.forBeanPropertyAccess(factory);
        return other.isReadableProperty(name) ? other.getPropertyValue(name) : null;
    }

    /** The topology of Redis, for messages. */
    public static String topologyOf(RedisConnectionFactory factory) {
        LettuceConnectionFactory lettuce = ApplicationFactory.ofLettuce(factory);
        if (lettuce == null) {
            return ApplicationFactory.typeOf(factory).getSimpleName();
        }
        return lettuce.isClusterAware() ? "cluster" : lettuce.isRedisSentinelAware() ? "sentinel" : "standalone";
    }
}
