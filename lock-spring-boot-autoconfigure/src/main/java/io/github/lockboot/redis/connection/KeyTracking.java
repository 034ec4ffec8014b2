package io.github.lockboot.redis.connection;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import io.github.lockboot.engine.StoreFailure;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.protocol.RedisFailure;
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
 * Makes Redis announce changes of keys by other clients, through the client-side caching of RESP3. Redis tracks the
 * keys that the next command after {@code CLIENT CACHING YES} reads, each until its first change. A change by this
 * client itself ends the tracking of the key, and is not announced.
 */
final class KeyTracking implements PushListener {

    private static final TrackingArgs OPT_IN =
            TrackingArgs.Builder.enabled().optin().noloop();

    static final Duration PAUSE = Duration.ofMinutes(10);

    volatile Consumer<@Nullable String> listener = key -> {};

    /** The connections to which this listener was added. It stays through a reconnection. */
    private final Set<Object> connections = weakSet();

    /** Those on which tracking is switched on and works, unless Lettuce has reconnected one without a report. */
    private final Set<Object> tracking = weakSet();

    /**
     * The epoch in which the protocol or the rights of the user did not allow tracking: a new connection may be treated
     * otherwise.
     */
    volatile long refusedIn = -1;

    /**
     * When tracking is tried again after a command got no answer: a proxy that closes each connection at such a command
     * cannot be distinguished from a server that stopped at that moment.
     */
    volatile long due;

    private final LongSupplier epoch;
    private final Timer timer;

    /** @param epoch another one after each reconnection */
    KeyTracking(LongSupplier epoch, Timer timer) {
        this.epoch = epoch;
        this.timer = timer;
        this.due = timer.nanoTime();
    }

    private static Set<Object> weakSet() {
        return Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
    }

    /** Whether keys can be tracked on the connection without switching tracking on. */
    boolean isOn(StatefulConnection<byte[], byte[]> connection) {
        return tracking.contains(connection);
    }

    /**
     * Switches tracking on, which changes nothing if it is on already.
     *
     * @return the answer, which completes on the thread of the connection: no other command comes between two that are
     *     sent there; null if the protocol does not allow it
     */
    @Nullable
    RedisFuture<?> switchOn(StatefulConnection<byte[], byte[]> connection) {
        if (!(connection instanceof StatefulRedisConnectionImpl<byte[], byte[]> known)
                || known.getConnectionState().getNegotiatedProtocolVersion() != ProtocolVersion.RESP3) {
            refusedIn = epoch.getAsLong();
            return null;
        }
        if (connections.add(known)) {
            known.addListener(this);
        }
        return reportingRefusal(known, known.async().clientTracking(OPT_IN));
    }

    /** Makes Redis track the keys that the next command on the connection reads. */
    void trackNext(StatefulConnection<byte[], byte[]> connection) {
        long sentIn = epoch.getAsLong();
        reportingRefusal(
                        connection,
                        ((StatefulRedisConnection<byte[], byte[]>) connection)
                                .async()
                                .clientCaching(true))
                .thenRun(() -> {
                    if (sentIn == epoch.getAsLong()) {
                        tracking.add(connection);
                    }
                });
    }

    /**
     * If tracking worked on the connection and is refused, Lettuce has reconnected to a node of a Cluster without a
     * report. Tracking is off there, and what was tracked may have changed.
     */
    private RedisFuture<?> reportingRefusal(Object connection, RedisFuture<String> sent) {
        long sentIn = epoch.getAsLong();
        boolean worked = tracking.contains(connection);
        sent.whenComplete((none, failure) -> {
            boolean refused = failure instanceof RedisCommandExecutionException;
            if (refused && RedisFailure.of(failure) != StoreFailure.NOT_NOW) {
                if (worked) {
                    onDisconnected(connection);
                } else {
                    refusedIn = sentIn;
                }
            } else if (failure != null
                    && !refused
                    && !SocketWatchdog.isClosed(connection)) { // closed by the registry, it shows nothing
                due = timer.nanoTime() + PAUSE.toNanos();
            }
        });
        return sent;
    }

    /** Redis forgets with the connection what it tracked. */
    void onDisconnected(Object connection) {
        tracking.remove(connection);
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
