package io.github.lockboot.redis.connection;

import java.util.concurrent.CompletableFuture;

import io.lettuce.core.AbstractRedisAsyncCommands;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import org.jspecify.annotations.Nullable;

/** What scripts are sent on: a connection to one server, or to each master of a Cluster. */
final class LettuceLink {

    private final RedisClusterAsyncCommands<byte[], byte[]> commands;
    private final @Nullable StatefulConnection<byte[], byte[]> connection;
    private final AbstractRedisClient client;

    /** @param commands the asynchronous ones of Lettuce, for binary keys */
    @SuppressWarnings("unchecked")
    LettuceLink(Object commands, AbstractRedisClient client) {
        this.commands = (RedisClusterAsyncCommands<byte[], byte[]>) commands;
        this.connection = commands instanceof AbstractRedisAsyncCommands
                ? ((AbstractRedisAsyncCommands<byte[], byte[]>) commands).getConnection()
                : null;
        this.client = client;
    }

    RedisClusterAsyncCommands<byte[], byte[]> commands() {
        return commands;
    }

    AbstractRedisClient client() {
        return client;
    }

    /** Whether a command on the key would go out, or fail, at once; Lettuce keeps it otherwise. */
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

    private static boolean isUsable(StatefulConnection<?, ?> connection) {
        return connection.isOpen()
                || connection instanceof RedisChannelHandler<?, ?> known && known.isClosed(); // which says so
    }
}
