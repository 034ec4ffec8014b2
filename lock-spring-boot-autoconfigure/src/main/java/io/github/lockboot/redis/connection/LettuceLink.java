package io.github.lockboot.redis.connection;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.AbstractRedisAsyncCommands;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

/** What scripts are sent on: the connection to one server, or those to the masters of a Cluster. */
final class LettuceLink {

    private final RedisClusterAsyncCommands<byte[], byte[]> commands;
    private final @Nullable StatefulConnection<byte[], byte[]> connection;
    private final AbstractRedisClient client;

    @SuppressWarnings("unchecked")
    private LettuceLink(Object commands, AbstractRedisClient client) {
        this.commands = (RedisClusterAsyncCommands<byte[], byte[]>) commands;
        this.connection = commands instanceof AbstractRedisAsyncCommands
                ? ((AbstractRedisAsyncCommands<byte[], byte[]>) commands).getConnection()
                : null;
        this.client = client;
    }

    /** The factory's shared connection, whose client informs the listener from now on. Blocks. */
    static LettuceLink over(LettuceConnectionFactory factory, RedisConnectionStateListener listener) {
        RedisCallback<Object> nativeConnection = RedisConnection::getNativeConnection;
        Object commands = new StringRedisTemplate(factory).execute(nativeConnection, true);
        AbstractRedisClient client = factory.getRequiredNativeClient();
        client.removeListener(listener);
        client.addListener(listener);
        return new LettuceLink(Objects.requireNonNull(commands), client);
    }

    RedisClusterAsyncCommands<byte[], byte[]> commands() {
        return commands;
    }

    AbstractRedisClient client() {
        return client;
    }

    /** Whether a command on the key would be sent, or fail, at once; otherwise Lettuce would keep it. */
    boolean reaches(byte[] key) {
        if (!(connection instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster)) {
            return connection == null || isUsable(connection);
        }
        RedisClusterNode master = cluster.getPartitions().getPartitionBySlot(SlotHash.getSlot(key));
        if (master == null) {
            return true;
        }
        RedisURI address = master.getUri();
        CompletableFuture<StatefulRedisConnection<byte[], byte[]>> toMaster =
                cluster.getConnectionAsync(address.getHost(), address.getPort());
        return !toMaster.isDone() || toMaster.isCompletedExceptionally() || isUsable(toMaster.join());
    }

    /** Whether it was closed for good, so that each command on it fails. */
    boolean isClosed() {
        return connection == null || isClosed(connection);
    }

    private static boolean isUsable(StatefulConnection<?, ?> connection) {
        return connection.isOpen() || isClosed(connection);
    }

    private static boolean isClosed(StatefulConnection<?, ?> connection) {
        return connection instanceof RedisChannelHandler<?, ?> known && known.isClosed();
    }
}
