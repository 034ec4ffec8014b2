package io.github.lockboot.redis.connection;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

import io.github.lockboot.engine.StoreFailure;
import io.github.lockboot.redis.protocol.RedisFailure;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.StatefulRedisConnectionImpl;
import io.lettuce.core.TrackingArgs;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.push.PushListener;
import io.lettuce.core.api.push.PushMessage;
import io.lettuce.core.protocol.ProtocolVersion;
import org.jspecify.annotations.Nullable;

/**
 * Makes Redis announce changes of keys by other clients, through the client-side caching of RESP3. Redis tracks the keys that the next
 * command after {@code CLIENT CACHING YES} reads, each until its first change. A change by this client itself ends the tracking of the
 * key, and is not announced.
 */
final class KeyTracking implements PushListener {

    private static final TrackingArgs OPT_IN =
            TrackingArgs.Builder.enabled().optin().noloop();

    volatile Consumer<@Nullable String> listener = key -> {};

    /** The connections to which this listener was added. It stays through a reconnection. */
    private final Set<Object> connections = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    /** Unanswered commands, with their connections. */
    private final Map<RedisFuture<?>, Object> unanswered = new ConcurrentHashMap<>();

    private final LongSupplier epoch;
    private final LongConsumer onRefused;
    private final Runnable onUnanswered;

    /**
     * @param epoch another one after each reconnection
     * @param onRefused called with the epoch in which the protocol or the rights of the user did not allow tracking
     * @param onUnanswered called if a command got no answer before its connection ended or it expired: a proxy may close each connection at
     *     such a command, or never answer it
     */
    KeyTracking(LongSupplier epoch, LongConsumer onRefused, Runnable onUnanswered) {
        this.epoch = epoch;
        this.onRefused = onRefused;
        this.onUnanswered = onUnanswered;
    }

    /**
     * Switches tracking on, which changes nothing if it is on already.
     *
     * @return the answer, which completes on the thread of the connection: no other command comes between two that are sent there;
     *     null if the protocol does not allow it
     */
    @Nullable
    RedisFuture<?> switchOn(StatefulConnection<byte[], byte[]> connection) {
        if (!(connection instanceof StatefulRedisConnectionImpl<byte[], byte[]> known)
                || known.getConnectionState().getNegotiatedProtocolVersion() != ProtocolVersion.RESP3) {
            onRefused.accept(epoch.getAsLong());
            return null;
        }
        if (connections.add(known)) {
            known.addListener(this);
        }
        return reportingRefusal(known, known.async().clientTracking(OPT_IN));
    }

    /** Makes Redis track the keys that the next command on the connection reads. */
    void trackNext(StatefulConnection<byte[], byte[]> connection) {
        reportingRefusal(
                connection,
                ((StatefulRedisConnection<byte[], byte[]>) connection).async().clientCaching(true));
    }

    private RedisFuture<?> reportingRefusal(Object connection, RedisFuture<String> sent) {
        long sentIn = epoch.getAsLong();
        unanswered.put(sent, connection);
        sent.whenComplete((none, failure) -> {
            unanswered.remove(sent);
            if (failure instanceof RedisCommandExecutionException) {
                if (RedisFailure.of(failure) != StoreFailure.NOT_NOW) {
                    onRefused.accept(sentIn);
                }
            } else if (failure != null && !isClosed(connection)) {
                onUnanswered.run();
            }
        });
        return sent;
    }

    /** Whether the registry itself closed the connection, which shows nothing about tracking. */
    private static boolean isClosed(Object connection) {
        return connection instanceof RedisChannelHandler<?, ?> known && known.isClosed();
    }

    /**
     * Redis forgets with the connection what it tracked. Unanswered commands are cancelled: Lettuce would send them again on the next
     * connection.
     */
    void onDisconnected(Object connection) {
        unanswered.forEach((sent, on) -> {
            if (on == connection) {
                sent.cancel(true);
            }
        });
        if (connections.contains(connection)) {
            listener.accept(null);
        }
    }

    /** The keys are null if all keys were deleted. */
    @Override
    public void onPushMessage(PushMessage message) {
        if (!message.getType().equals("invalidate")) {
            return;
        }
        Object keys = message.getContent().get(1);
        if (keys instanceof List<?> changed) {
            changed.forEach(key -> listener.accept(text((ByteBuffer) key)));
        } else {
            listener.accept(null);
        }
    }

    private static String text(ByteBuffer key) {
        return StandardCharsets.UTF_8.decode(key.duplicate()).toString();
    }
}
