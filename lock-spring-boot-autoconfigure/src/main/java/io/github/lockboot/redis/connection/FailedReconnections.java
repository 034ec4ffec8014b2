package io.github.lockboot.redis.connection;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockboot.internal.Futures;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.event.connection.ReconnectFailedEvent;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import reactor.core.Disposable;

/**
 * Why the application's client could not connect again, by the events of Lettuce. Clients that share resources share
 * them, so they are kept by server.
 */
final class FailedReconnections {

    private final Map<String, Throwable> newest = new ConcurrentHashMap<>();
    private final @Nullable String onlyServer;
    private final Disposable events;

    FailedReconnections(LettuceConnectionFactory factory, AbstractRedisClient client) {
        onlyServer = factory.isClusterAware() || factory.isRedisSentinelAware()
                ? null
                : of(factory.getHostName(), factory.getPort());
        events = client.getResources()
                .eventBus()
                .get()
                .ofType(ReconnectFailedEvent.class)
                .subscribe(this::onFailed);
    }

    private static String of(String host, int port) {
        return host + ":" + port;
    }

    private void onFailed(ReconnectFailedEvent failed) {
        if (failed.remoteAddress() instanceof InetSocketAddress server) {
            newest.put(of(server.getHostString(), server.getPort()), Futures.unwrap(failed.getCause()));
        }
    }

    /**
     * {@return why the newest attempt failed; null if it is not known}
     *
     * @param node of a Cluster
     */
    @Nullable
    Throwable why(@Nullable RedisURI node) {
        String server = node == null ? onlyServer : of(node.getHost(), node.getPort());
        return server == null ? null : newest.get(server);
    }

    void onConnected() {
        newest.clear();
    }

    void end() {
        events.dispose();
    }
}
