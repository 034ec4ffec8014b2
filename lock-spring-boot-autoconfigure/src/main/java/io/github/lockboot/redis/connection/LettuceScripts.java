package io.github.lockboot.redis.connection;

import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.lockboot.engine.Reply;
import io.github.lockboot.engine.StoreFailure;
import io.github.lockboot.engine.StoreFailure.NotConnectedException;
import io.github.lockboot.internal.Failures;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.SerialExecutor;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.protocol.LuaScript;
import io.github.lockboot.redis.protocol.LuaScript.ForeignReplyException;
import io.github.lockboot.redis.protocol.RedisFailure;
import io.github.lockboot.redis.protocol.ScriptStore;
import io.lettuce.core.AbstractRedisAsyncCommands;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import io.lettuce.core.resource.Delay;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Runs scripts on the one connection that Lettuce shares among threads. The first call starts to connect, in the background;
 * Lettuce reconnects.
 *
 * <p>Without a connection, calls wait here. Lettuce would keep and later send each command, even an expired one. Calls on one key
 * are sent in order. So calls wait in order of their slot, which is on one server, and calls of other slots pass them.
 */
final class LettuceScripts implements ScriptStore.Runner, RedisConnectionStateListener {

    private static final Log log = LogFactory.getLog(LettuceScripts.class);

    /** Lettuce has no event for a new master in a Cluster. */
    private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** Grows to three seconds: Lettuce logs each server of a fixed list that refuses. */
    private static final Delay BETWEEN_ATTEMPTS =
            Delay.fullJitter(Duration.ofMillis(1), Duration.ofSeconds(3), 1, TimeUnit.MILLISECONDS);

    /** Between two checks whether the application has moved to another server. */
    private static final long FOLLOW_NANOS = TimeUnit.SECONDS.toNanos(1);

    static final Duration TRACKING_PAUSE = Duration.ofMinutes(10);

    private static final Set<LuaScript> TAKING_LEASES =
            Set.of(LuaScript.ACQUIRE, LuaScript.RENEW, LuaScript.RENEW_PERMITS);

    private final Supplier<StringRedisTemplate> template;
    private final Timer timer;
    private final Executor connector;
    private final @Nullable OwnConnection own;
    private final @Nullable Acknowledger acknowledger;
    private final Timer.Check check;
    private final Timer.Check follow;
    private final AtomicBoolean following = new AtomicBoolean();
    private final AtomicLong epoch = new AtomicLong();
    private final KeyTracking tracking;
    private volatile long trackingRefusedIn = -1; // an epoch: a new connection may be treated otherwise
    private volatile long trackingDue;

    /**
     * The calls that wait for a connection, in order, by slot. Its monitor guards changes and the fields below. Commands are sent
     * outside the monitor.
     */
    private final Map<Integer, Set<Call>> waiting = new ConcurrentHashMap<>();

    private final SerialExecutor sender;
    private volatile boolean connecting;
    private long refused; // attempts to connect, in a row
    private long nextAttempt;
    private boolean closed;
    private volatile @Nullable Link link;
    private @Nullable AbstractRedisClient client; // of the newest link

    /**
     * @param connector connects, which blocks
     * @param own null on connections of the application
     * @param acknowledger of leases, if they have to be acknowledged
     */
    LettuceScripts(
            Supplier<StringRedisTemplate> template,
            Timer timer,
            Executor connector,
            @Nullable OwnConnection own,
            @Nullable Acknowledger acknowledger) {
        this.template = template;
        this.timer = timer;
        this.connector = connector;
        this.own = own;
        this.acknowledger = acknowledger;
        this.sender = new SerialExecutor(connector);
        this.check = timer.check(CHECK_NANOS, this::sendWaitingInBackground);
        this.follow = timer.check(FOLLOW_NANOS, this::followApplicationInBackground);
        this.tracking = new KeyTracking(this::epoch, refusedIn -> trackingRefusedIn = refusedIn, this::pauseTracking);
        this.trackingDue = timer.nanoTime();
    }

    @Override
    public CompletableFuture<Reply> run(LuaScript script, String key, byte[]... arguments) {
        return run(reply -> {}, script, key, arguments);
    }

    @Override
    public CompletableFuture<Reply> run(Consumer<Reply> late, LuaScript script, String key, byte[]... arguments) {
        Call call = new Call(late, script, key.getBytes(StandardCharsets.UTF_8), arguments);
        Link current = othersWait(call) ? null : link;
        if (current == null || !reaches(current, call.key)) {
            current = linkOrWait(call);
        }
        if (current != null) {
            send(call, current);
        }
        return call;
    }

    /** @return the connection to send the call on; null if the call waits or has failed */
    private @Nullable Link linkOrWait(Call call) {
        synchronized (waiting) {
            if (closed) {
                call.completeExceptionally(new NotConnectedException("the lock registry is closed", null));
                return null;
            }
            Link current = link;
            if (current != null && !othersWait(call) && reaches(current, call.key)) {
                return current;
            }
            connectInBackground();
            check.start();
            // Last: a call that fails here must not be sent later.
            waiting.computeIfAbsent(call.slot(), slot -> new LinkedHashSet<>()).add(call);
            return null;
        }
    }

    /** Whether calls of the same slot wait. */
    private boolean othersWait(Call call) {
        return !waiting.isEmpty() && waiting.containsKey(call.slot());
    }

    private @Nullable Call firstOf(int slot) {
        synchronized (waiting) {
            Set<Call> calls = waiting.get(slot);
            return calls == null ? null : calls.iterator().next();
        }
    }

    private void stopWaiting(Call call) {
        synchronized (waiting) {
            waiting.computeIfPresent(call.slot(), (slot, calls) -> {
                calls.remove(call);
                return calls.isEmpty() ? null : calls;
            });
        }
    }

    /** On the timer's thread, which also renews leases and must not be kept long. Returns whether any call waits. */
    private boolean sendWaitingInBackground() {
        synchronized (waiting) {
            if (waiting.isEmpty()) {
                return false;
            }
            connectInBackground();
        }
        sender.execute(this::sendWaiting);
        return true;
    }

    private void sendWaiting() {
        Link current = link;
        if (current != null) {
            waiting.keySet().forEach(slot -> sendWaiting(slot, current));
        }
    }

    /** Sends the calls of a slot in order, up to the first that cannot be sent. */
    private void sendWaiting(int slot, Link current) {
        for (Call next = firstOf(slot); next != null; next = firstOf(slot)) {
            try {
                if (!reaches(current, next.key)) {
                    return;
                }
                send(next, current);
            } catch (Throwable notSent) {
                next.completeExceptionally(notSent);
            }
            stopWaiting(next); // only now: a call that comes meanwhile must not pass it
        }
    }

    private void send(Call call, Link current) {
        try {
            call.sendOn(current);
        } catch (Throwable notSent) {
            if (own != null && RedisFailure.isOfReplica(notSent)) {
                own.onReplica(current.client);
            }
            throw notSent;
        }
    }

    private void connectInBackground() {
        Link last = link;
        if (last != null && last.isClosed()) {
            link = null; // the application has reset its factory, or the own one has ended
        }
        if (link != null || connecting || closed || refused > 0 && timer.nanoTime() - nextAttempt < 0) {
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

    /** If connecting fails, the calls that waited when it began fail. For later calls, such as right after a start, it connects again. */
    private void connect() {
        List<Call> before = List.of();
        Link made = null;
        Throwable failure = null;
        try {
            synchronized (waiting) { // the call that started this is added under this monitor
                before = waiting.values().stream().flatMap(Set::stream).toList();
            }
            made = Link.over(template.get(), this);
        } catch (Throwable notMade) { // also an Error: the next call must connect again
            failure = notMade;
        }
        List<Call> failed = made == null ? before : List.of();
        AbstractRedisClient former = null;
        synchronized (waiting) {
            connecting = false;
            link = made;
            refused = made == null ? refused + 1 : 0;
            nextAttempt =
                    timer.nanoTime() + BETWEEN_ATTEMPTS.createDelay(refused).toNanos();
            if (closed) {
                unlink();
            } else if (made != null) {
                former = client;
                client = made.client;
                follow.start();
            }
        }
        if (former != null && made != null && former != made.client) {
            onMoved(former);
        }
        NotConnectedException notConnected = new NotConnectedException("no connection to Redis", failure);
        failed.forEach(call -> call.completeExceptionally(notConnected));
        timer.schedule(0, this::sendWaitingInBackground);
    }

    /** On the timer's thread. Returns whether there is a connection, and the application may move to another server. */
    private boolean followApplicationInBackground() {
        if (link == null || own == null && !ApplicationFactory.isProxy(factory())) {
            return false;
        }
        if ((own == null || own.mayHaveMoved()) && following.compareAndSet(false, true)) {
            try {
                connector.execute(this::followApplication);
            } catch (Throwable noThread) {
                following.set(false);
                throw noThread;
            }
        }
        return true;
    }

    /** A scope may have to make its bean again, which blocks, and fails where the application has no Redis either. */
    private void followApplication() {
        try {
            Link current = link;
            if (current == null) {
                return;
            }
            AbstractRedisClient newest = ApplicationFactory.clientOf(ApplicationFactory.targetOf(factory()));
            if (newest != null && newest != current.client) {
                synchronized (waiting) {
                    link = link == current ? null : link;
                    connectInBackground();
                }
            }
        } catch (RuntimeException notNow) {
            log.debug("The connection factory of the application cannot be asked", notNow);
        } finally {
            following.set(false);
        }
    }

    /** Holds of the former server are renewed on the new one, and are lost unless it is the same server. */
    private void onMoved(AbstractRedisClient former) {
        if (own == null) {
            former.removeListener(this);
        }
        epoch.incrementAndGet();
        tracking.listener.accept(null);
    }

    /** Whether a command on the key would be sent, or fail, at once. Lettuce would keep any other. */
    private boolean reaches(Link current, byte[] key) {
        if (current.isClosed()) {
            return false;
        }
        StatefulConnection<byte[], byte[]> used = current.to(key);
        return used == null ? acknowledger == null : used.isOpen() || Link.isClosed(used);
    }

    @Override
    public boolean acknowledges() {
        return acknowledger != null;
    }

    /** Lettuce ends each attempt by its own timeouts. */
    @Override
    public boolean isConnecting() {
        return connecting;
    }

    @Override
    public long epoch() {
        return epoch.get();
    }

    /** A proxy that closes the connection at such a command cannot be distinguished from a server that stopped at that moment. */
    void pauseTracking() {
        trackingDue = timer.nanoTime() + TRACKING_PAUSE.toNanos();
    }

    /** Not on connections of the application, which may track keys for itself. */
    @Override
    public boolean announcesChanges() {
        return own != null && trackingRefusedIn != epoch.get() && timer.nanoTime() - trackingDue >= 0;
    }

    @Override
    public void onChange(Consumer<@Nullable String> listener) {
        tracking.listener = listener;
    }

    @Override
    public void close() {
        synchronized (waiting) {
            closed = true;
            unlink();
        }
    }

    /** Otherwise the client of the application would keep a reference to this closed runner. */
    private void unlink() {
        Link last = link;
        link = null;
        if (last != null) {
            last.client.removeListener(this);
        }
    }

    /** Runs the action once when a connection that is subscribed to a channel is cut. */
    static void whenCut(RedisConnection subscribed, Runnable action) {
        var connection = ((RedisPubSubAsyncCommands<?, ?>) subscribed.getNativeConnection()).getStatefulConnection();
        connection.addListener(new RedisConnectionStateListener() {

            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> cut) {
                connection.removeListener(this);
                action.run();
            }
        });
        if (!connection.isOpen()) {
            action.run();
        }
    }

    @Override
    public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
        if (!waiting.isEmpty()) {
            timer.schedule(0, this::sendWaitingInBackground);
        }
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
        epoch.incrementAndGet();
        if (acknowledger != null) {
            acknowledger.onDisconnected(connection);
        }
        tracking.onDisconnected(connection); // last: a renewal that waits for the answer continues without it
    }

    /**
     * The call of a script. When it expires, it is removed from the waiting calls and cancelled in Lettuce, so it is not sent
     * later, except over a new connection to a node of a Cluster, for which Lettuce keeps it all the same. If it has been sent, Lettuce
     * still reads its reply.
     */
    private final class Call extends CompletableFuture<Reply> {

        private final AtomicReference<@Nullable Consumer<Reply>> late;
        private final LuaScript script;
        private final byte[] key;
        private final byte[][] arguments;
        private final byte[] number = LuaScript.nextNumber();
        private volatile @Nullable RedisFuture<?> command;
        private volatile @Nullable Reply read;

        /** @param late gets a reply that is read after the call has failed, unless it would have to be acknowledged */
        Call(Consumer<Reply> late, LuaScript script, byte[] key, byte[][] arguments) {
            this.late = new AtomicReference<>(acknowledger == null ? late : null);
            this.script = script;
            this.key = key;
            this.arguments = arguments;
        }

        int slot() {
            return SlotHash.getSlot(key);
        }

        /** Makes Redis track a lock that is renewed. Tracking is switched on each time: a reconnection ends it. */
        void sendOn(Link link) {
            var server = script == LuaScript.RENEW && announcesChanges() ? link.to(key) : null;
            RedisFuture<?> switchedOn = server == null ? null : tracking.switchOn(server);
            if (switchedOn == null) {
                sendOn(link, CommandType.EVALSHA, null);
            } else {
                onSent(switchedOn);
                switchedOn.whenComplete(
                        (none, failure) -> sendAgainOn(link, CommandType.EVALSHA, failure == null ? server : null));
            }
        }

        /** Called from a callback, where an exception would be lost. */
        private void sendAgainOn(Link link, CommandType type, @Nullable StatefulConnection<byte[], byte[]> tracked) {
            try {
                sendOn(link, type, tracked);
            } catch (Throwable notSent) {
                completeExceptionally(notSent);
            }
        }

        private void onSent(RedisFuture<?> sent) {
            command = sent;
            if (isDone()) {
                withdraw(); // it expired while it was sent
            }
        }

        /**
         * Sends the digest of the script first, and the whole script if Redis does not know it.
         *
         * @param tracked the connection on which the key is to be tracked, if any
         */
        private void sendOn(Link link, CommandType type, @Nullable StatefulConnection<byte[], byte[]> tracked) {
            if (isDone()) {
                return;
            }
            boolean digestOnly = type == CommandType.EVALSHA;
            CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE)
                    .add(digestOnly ? script.getSha1() : script.getScriptAsString())
                    .add(1)
                    .addKey(key); // by which Lettuce finds the node of a Cluster
            for (byte[] argument : arguments) {
                args.add(argument);
            }
            args.add(number);
            Acknowledger asked = TAKING_LEASES.contains(script) ? acknowledger : null;
            AbstractRedisAsyncCommands<byte[], byte[]> commands = asked == null ? link.commands : link.toMasterOf(key);
            Acknowledger.Rounds rounds = asked == null ? null : asked.on(commands);
            if (tracked != null) {
                tracking.trackNext(tracked);
            }
            RedisFuture<Reply> sent = commands.dispatch(type, new Output(number, this::onRead), args);
            onSent(sent);
            if (rounds != null) {
                rounds.acknowledge(this, sent);
            }
            sent.whenComplete((reply, failure) -> {
                if (digestOnly && failure != null && Futures.unwrap(failure) instanceof RedisNoScriptException) {
                    sendAgainOn(link, CommandType.EVAL, tracked);
                } else if (reply == null) {
                    fail(link, failure != null ? failure : new IllegalStateException("no reply"));
                } else if (rounds == null
                        || !(reply instanceof Reply.Granted
                                || reply instanceof Reply.Renewed
                                || reply instanceof Reply.All)) {
                    complete(reply);
                }
            });
        }

        private void onRead(Reply reply) {
            read = reply;
            receiveIfLate();
        }

        /** Called both when the reply has been read and when the call has failed, which may be at the same time. */
        private void receiveIfLate() {
            Reply reply = read;
            Consumer<Reply> receiver = reply != null && isCompletedExceptionally() ? late.getAndSet(null) : null;
            if (reply != null && receiver != null) {
                Failures.runAndLog("when a late reply was received", () -> receiver.accept(reply));
            }
        }

        private void fail(Link used, Throwable failure) {
            if (own != null && RedisFailure.isOfReplica(failure)) {
                own.onReplica(used.client);
            } else if (own != null && (acknowledger != null || RedisFailure.isOfNoMaster(failure))) {
                own.onSilence(used.client); // no redirection was followed, so nothing else has noticed it
            }
            completeExceptionally(failure);
        }

        @Override
        public boolean completeExceptionally(Throwable failure) {
            boolean first = super.completeExceptionally(explained(failure));
            if (first) {
                Failures.runAndLog("when a call was withdrawn", this::withdraw);
                receiveIfLate();
            }
            return first;
        }

        /** Names a missing connection as the cause. Never throws: otherwise the call would never end. */
        private Throwable explained(Throwable failure) {
            try {
                if (command == null) {
                    return RedisFailure.of(failure) == StoreFailure.NOT_SENT
                            ? failure
                            : new NotConnectedException("no connection to Redis", failure);
                }
                Link current = link;
                return failure instanceof TimeoutException && (current == null || !reaches(current, key))
                        ? new TimeoutException("the connection was lost before Redis answered")
                        : failure;
            } catch (Throwable notExplained) {
                return failure;
            }
        }

        private void withdraw() {
            RedisFuture<?> sent = command;
            if (sent != null) {
                if (sent.isDone()) {
                    return;
                }
                sent.cancel(true);
            }
            stopWaiting(this);
            Link current = link;
            if (own != null) {
                own.onSilence(current != null ? current.client : null);
            }
        }
    }

    /**
     * Reads the reply to one command. If Lettuce has lost count, it is the reply to another command. An exception at the end of a
     * reply makes Lettuce close the socket and send the other commands in flight again on the next one.
     */
    private static final class Output extends CommandOutput<byte[], byte[], Reply> {

        private final byte[] number;
        private final Consumer<Reply> onRead;
        private boolean refused;

        /** @param onRead gets the reply, also if the command has been cancelled; must not throw */
        Output(byte[] number, Consumer<Reply> onRead) {
            super(ByteArrayCodec.INSTANCE, null);
            this.number = number;
            this.onRead = onRead;
        }

        @Override
        public void set(@Nullable ByteBuffer line) {
            output = Reply.parse(LuaScript.answerTo(number, line));
        }

        /** The errors of Redis have no number. */
        @Override
        public void setError(ByteBuffer error) {
            refused = true;
            super.setError(error);
        }

        @Override
        public void complete(int depth) {
            if (depth == 0 && output != null) {
                onRead.accept(output);
            } else if (depth == 0 && !refused) {
                throw new ForeignReplyException();
            }
            refused = false; // after a redirection the command is sent again, with this output
        }
    }

    private LettuceConnectionFactory factory() {
        return factoryOf(template.get());
    }

    private static LettuceConnectionFactory factoryOf(StringRedisTemplate template) {
        return (LettuceConnectionFactory) template.getRequiredConnectionFactory();
    }

    /** The connection of scripts, to one server or to the masters of a Cluster. */
    private record Link(AbstractRedisAsyncCommands<byte[], byte[]> commands, AbstractRedisClient client) {

        /** Connects with the factory's shared connection and registers the listener. Blocks. */
        @SuppressWarnings("unchecked")
        static Link over(StringRedisTemplate template, RedisConnectionStateListener listener) {
            // Before the connection: the target of a proxy may change meanwhile.
            AbstractRedisClient client = factoryOf(template).getRequiredNativeClient();
            RedisCallback<Object> nativeConnection = RedisConnection::getNativeConnection;
            var commands = (AbstractRedisAsyncCommands<byte[], byte[]>)
                    Objects.requireNonNull(template.execute(nativeConnection, true));
            client.removeListener(listener);
            client.addListener(listener);
            return new Link(commands, client);
        }

        /** The connection for commands on the key, of a Cluster that to one master; null if there is none yet. */
        @Nullable
        StatefulConnection<byte[], byte[]> to(byte[] key) {
            StatefulConnection<byte[], byte[]> used = commands.getConnection();
            if (used instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster) {
                RedisClusterNode master = cluster.getPartitions().getPartitionBySlot(SlotHash.getSlot(key));
                return master == null ? null : known(cluster, master.getUri());
            }
            return used;
        }

        /** The commands of that connection alone: they follow no redirection. */
        AbstractRedisAsyncCommands<byte[], byte[]> toMasterOf(byte[] key) {
            if (to(key) instanceof StatefulRedisConnection<byte[], byte[]> node) {
                return (AbstractRedisAsyncCommands<byte[], byte[]>) node.async();
            }
            throw new NotConnectedException("no connection to the master of the key", null);
        }

        private static @Nullable StatefulConnection<byte[], byte[]> known(
                StatefulRedisClusterConnection<byte[], byte[]> cluster, RedisURI node) {
            CompletableFuture<StatefulRedisConnection<byte[], byte[]>> made =
                    cluster.getConnectionAsync(node.getHost(), node.getPort());
            return made.isDone() && !made.isCompletedExceptionally() ? made.join() : null;
        }

        /** Whether the connection was closed for good: every command on it fails. */
        boolean isClosed() {
            return isClosed(commands.getConnection());
        }

        private static boolean isClosed(StatefulConnection<?, ?> connection) {
            return connection instanceof RedisChannelHandler<?, ?> known && known.isClosed();
        }
    }
}
