package io.github.lockboot.redis.connection;

import java.net.SocketAddress;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import io.github.lockboot.internal.PeriodicCheck;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.protocol.RedisFailure;
import io.github.lockboot.redis.protocol.RedisFailure.NotConnectedException;
import io.github.lockboot.redis.protocol.Reply;
import io.github.lockboot.redis.protocol.ScriptRunner;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Runs scripts on the one connection that Lettuce shares among threads. The connection is made in the background at the first use;
 * Lettuce reconnects it.
 *
 * <p>While there is no connection, calls wait here and not in Lettuce, which would keep and send each command, even one that has
 * expired. Calls on one key are sent in the order they were made.
 */
final class LettuceScriptRunner implements ScriptRunner, RedisConnectionStateListener {

    /** No event tells that another node of a Cluster has become the master. */
    private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Supplier<LettuceConnectionFactory> factory;
    private final CommandTimeouts timeouts;
    private final Timer timer;
    private final Executor connector;
    private final @Nullable TopologyRefresh topology;
    private final PeriodicCheck check;
    private final AtomicLong epoch = new AtomicLong();

    /** In order. The monitor for the fields below; while it is held, nothing is sent and no call completes. */
    private final Set<LettuceCall> waiting = new LinkedHashSet<>();

    private volatile boolean anyWaits;
    private boolean connecting;
    private boolean closed;
    private volatile @Nullable LettuceLink link;

    /**
     * @param connector makes the connection, which blocks
     * @param topology null on connections of the application
     */
    LettuceScriptRunner(
            Supplier<LettuceConnectionFactory> factory,
            CommandTimeouts timeouts,
            Timer timer,
            Executor connector,
            @Nullable TopologyRefresh topology) {
        this.factory = factory;
        this.timeouts = timeouts;
        this.timer = timer;
        this.connector = connector;
        this.topology = topology;
        this.check = new PeriodicCheck(timer, CHECK_NANOS, this::sendWaiting);
    }

    @Override
    public CompletableFuture<Reply> run(Call script) {
        LettuceCall call = new LettuceCall(script, this);
        LettuceLink current = anyWaits ? null : link;
        if (current == null || !current.reaches(call.key())) {
            current = linkOrWait(call);
        }
        if (current != null) {
            call.sendOn(current);
        }
        timeouts.watch(call);
        return call;
    }

    /** @return what to send it on now; null if it waits, or has failed */
    private @Nullable LettuceLink linkOrWait(LettuceCall call) {
        synchronized (waiting) {
            if (closed) {
                call.completeExceptionally(new NotConnectedException("the lock registry is closed", null));
                return null;
            }
            LettuceLink current = link;
            if (current != null
                    && current.reaches(call.key())
                    && waiting.stream().noneMatch(each -> Arrays.equals(each.key(), call.key()))) {
                return current;
            }
            connectInBackground();
            check.start();
            waiting.add(call); // last: a call that fails here must not be sent later
            anyWaits = true;
            return null;
        }
    }

    private void stopWaiting(LettuceCall call) {
        synchronized (waiting) {
            waiting.remove(call);
            anyWaits = !waiting.isEmpty();
        }
    }

    /** @return whether any still waits; on the timer's thread, so that no call overtakes another */
    private boolean sendWaiting() {
        List<LettuceCall> inOrder;
        synchronized (waiting) {
            inOrder = List.copyOf(waiting);
            if (!inOrder.isEmpty()) {
                connectInBackground();
            }
        }
        LettuceLink current = link;
        for (LettuceCall call : inOrder) {
            if (current != null && current.reaches(call.key())) {
                try {
                    call.sendOn(current);
                } catch (Throwable notSent) {
                    call.completeExceptionally(notSent);
                }
                stopWaiting(call);
            }
        }
        return anyWaits;
    }

    private void connectInBackground() {
        if (link != null || connecting || closed) {
            return;
        }
        connecting = true;
        try {
            connector.execute(this::connect);
        } catch (Throwable noThread) {
            connecting = false;
            throw noThread;
        }
    }

    private void connect() {
        LettuceLink made = null;
        Throwable failure = null;
        try {
            made = LettuceLink.over(factory.get(), this);
        } catch (Throwable notMade) { // an Error, too: the next call must be able to try again
            failure = notMade;
        }
        List<LettuceCall> failed;
        synchronized (waiting) {
            connecting = false;
            link = closed ? null : made;
            failed = made == null ? List.copyOf(waiting) : List.of();
        }
        NotConnectedException notConnected = new NotConnectedException("no connection to Redis", failure);
        failed.forEach(call -> call.completeExceptionally(notConnected));
        timer.schedule(0, this::sendWaiting);
    }

    /** A call was answered with a failure. */
    void onFailure(LettuceLink used, Throwable failure) {
        if (used.isClosed() && link == used) {
            link = null; // the application has reset its factory
        }
        if (topology != null && RedisFailure.isOfReplica(failure)) {
            topology.onReplica();
        }
    }

    /** A call is no longer waited for. */
    void onSilence(LettuceCall call) {
        stopWaiting(call);
        LettuceLink current = link;
        if (topology != null) {
            topology.onSilence(current != null ? current.client() : null);
        }
    }

    @Override
    public long epoch() {
        return epoch.get();
    }

    @Override
    public void close() {
        synchronized (waiting) {
            closed = true;
            link = null;
        }
        timeouts.close();
    }

    @Override
    public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
        if (anyWaits) {
            timer.schedule(0, this::sendWaiting);
        }
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
        epoch.incrementAndGet();
    }
}
