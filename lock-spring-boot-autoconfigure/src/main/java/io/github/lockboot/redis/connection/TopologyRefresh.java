package io.github.lockboot.redis.connection;

import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockboot.internal.Timer;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import org.jspecify.annotations.Nullable;

/**
 * Makes Lettuce look for the master again where it would not do so by itself. For connections of the registry only, not for those
 * of the application.
 */
final class TopologyRefresh {

    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final SocketWatchdog watchdog;
    private final long commandTimeoutNanos;
    private final Timer timer;
    private final Executor executor;
    private final AtomicLong nextRefresh;
    private final AtomicLong nextClose;

    /** @param executor refreshes the topology of a Cluster */
    TopologyRefresh(SocketWatchdog watchdog, long commandTimeoutNanos, Timer timer, Executor executor) {
        this.watchdog = watchdog;
        this.commandTimeoutNanos = commandTimeoutNanos;
        this.timer = timer;
        this.executor = executor;
        this.nextRefresh = new AtomicLong(timer.nanoTime());
        this.nextClose = new AtomicLong(timer.nanoTime());
    }

    /** A command was not answered in time. */
    void onSilence(@Nullable AbstractRedisClient client) {
        watchdog.closeSilent(commandTimeoutNanos);
        if (client instanceof RedisClusterClient cluster && isDue(nextRefresh)) {
            executor.execute(cluster::refreshPartitionsAsync);
        }
    }

    /** A server answered that it is a replica. */
    void onReplica() {
        if (isDue(nextClose)) {
            watchdog.closeAll();
        }
    }

    private boolean isDue(AtomicLong next) {
        long now = timer.nanoTime();
        long due = next.get();
        return now - due >= 0 && next.compareAndSet(due, now + PAUSE_NANOS);
    }
}
