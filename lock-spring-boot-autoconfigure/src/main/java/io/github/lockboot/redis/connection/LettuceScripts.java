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
import java.util.concurrent.atomic.AtomicLong;
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
import io.lettuce.core.cluster.PartitionException;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import io.lettuce.core.resource.Delay;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Runs scripts on the one connection that Lettuce shares among threads. The first call starts to connect, in the
 * background; Lettuce reconnects.
 *
 * <p>Without a connection, calls wait here. Lettuce would keep and later send each command, even an expired one. Calls
 * on one key are sent in order. So calls wait in order of their slot, which is on one server, and calls of other slots
 * pass them.
 */
final class LettuceScripts implements ScriptStore.Runner, RedisConnectionStateListener {

    /** Lettuce has no event for a new master in a Cluster. */
    private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** Grows to three seconds: Lettuce logs each server of a fixed list that refuses. */
    private static final Delay BETWEEN_ATTEMPTS =
            Delay.fullJitter(Duration.ofMillis(1), Duration.ofSeconds(3), 1, TimeUnit.MILLISECONDS);

    /** Between two checks whether the application has moved to another server. */
    private static final long FOLLOW_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** How many arguments the renewal of one id has: the id, the settings, the number of its grant, the ttl. */
    private static final int RENEWS_ONE = 4;

    private static final Set<LuaScript> TAKING_LEASES = Set.of(LuaScript.ACQUIRE, LuaScript.RENEW);

    private final Supplier<StringRedisTemplate> template;
    private final Timer timer;
    private final Executor connector;
    private final @Nullable OwnConnection own;
    private final @Nullable Acknowledger acknowledger;
    private final Timer.Check check;
    private final Timer.Check follow;
    private final AtomicLong epoch = new AtomicLong();
    private final KeyTracking tracking;

    /**
     * The calls that wait for a connection, in order, by slot. Its monitor guards changes and the fields below.
     * Commands are sent outside the monitor.
     */
    private final Map<Integer, Set<Call>> waiting = new ConcurrentHashMap<>();

    private final SerialExecutor sender;
    private volatile boolean connecting;
    private volatile @Nullable Throwable notConnected; // why the last attempt failed; null once there is a connection
    private long refused; // attempts to connect, in a row
    private long nextAttempt;
    private boolean closed;
    private volatile @Nullable Link link;
    private volatile @Nullable AbstractRedisClient client; // of the newest link; this is its listener
    private volatile @Nullable FailedReconnections failures; // of that client; null on own connections

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
        this.follow = timer.check(FOLLOW_NANOS, this::followApplication);
        this.tracking = new KeyTracking(this::epoch, timer);
    }

    @Override
    public CompletableFuture<Reply> run(Consumer<Reply> late, LuaScript script, String key, byte[]... arguments) {
        Call call = new Call(late, script, key.getBytes(StandardCharsets.UTF_8), arguments);
        Link current = linkFor(call);
        if (current == null) {
            current = linkOrWait(call);
        }
        if (current != null) {
            call.sendOn(current);
        }
        return call;
    }

    /** @return the connection to send the call on; null if there is none, or other calls of the same slot wait */
    private @Nullable Link linkFor(Call call) {
        Link current = link;
        boolean first = waiting.isEmpty() || !waiting.containsKey(call.slot());
        return current != null && first && reaches(current, call.key) ? current : null;
    }

    /** @return the connection to send the call on; null if the call waits or has failed */
    private @Nullable Link linkOrWait(Call call) {
        synchronized (waiting) {
            if (closed) {
                call.completeExceptionally(new NotConnectedException("the lock registry is closed", null));
                return null;
            }
            Link current = linkFor(call);
            if (current != null) {
                return current;
            }
            connectInBackground();
            check.start();
            // Last: a call that fails here must not be sent later.
            waiting.computeIfAbsent(call.slot(), slot -> new LinkedHashSet<>()).add(call);
            return null;
        }
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
                next.sendOn(current);
            } catch (Throwable notSent) {
                next.completeExceptionally(notSent);
            }
            stopWaiting(next); // only now: a call that comes meanwhile must not pass it
        }
    }

    private void connectInBackground() {
        Link last = link;
        if (last != null && last.isClosed()) {
            link = null; // the application has reset its factory, or the own one has ended
        }
        if (link == null) {
            startToConnect();
        }
    }

    private void startToConnect() {
        if (connecting || closed || refused > 0 && timer.nanoTime() - nextAttempt < 0) {
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

    /**
     * If connecting fails, the calls that waited when it began fail. For later calls, such as right after a start, it
     * connects again. May block for long, as a scope may have to make its bean again.
     */
    private void connect() {
        List<Call> before = List.of();
        try {
            synchronized (waiting) { // the call that started this is added under this monitor
                before = waiting.values().stream().flatMap(Set::stream).toList();
            }
            StringRedisTemplate connected = template.get();
            Link made = Link.over(connected);
            if (made.client != client) {
                made.client.addListener(this);
                if (own == null) {
                    forgetFailures();
                    failures = new FailedReconnections(factoryOf(connected), made.client);
                }
            }
            onConnected(made);
        } catch (Throwable notMade) { // also an Error: the next call must connect again
            onNotConnected(before, notMade);
        }
        timer.schedule(0, this::sendWaitingInBackground);
    }

    private void onConnected(Link made) {
        AbstractRedisClient former = client;
        synchronized (waiting) {
            connecting = false;
            notConnected = null;
            refused = 0;
            link = made;
            client = made.client;
            if (closed) {
                unlink();
            }
        }
        follow.start();
        if (former != null && former != made.client) {
            onMoved(former);
        }
    }

    private void onNotConnected(List<Call> before, Throwable failure) {
        synchronized (waiting) {
            connecting = false;
            notConnected = failure;
            refused++;
            nextAttempt =
                    timer.nanoTime() + BETWEEN_ATTEMPTS.createDelay(refused).toNanos();
        }
        if (link == null) {
            NotConnectedException none = new NotConnectedException("no connection to Redis", failure);
            before.forEach(call -> call.completeExceptionally(none));
        }
    }

    /**
     * Connects again where the application may have moved to another server; until that is done, and if it fails, the
     * connection is used on. On the timer's thread. Returns whether there is a connection, and the application may
     * move.
     */
    private boolean followApplication() {
        if (link == null || own == null && !ApplicationFactory.isProxy(factoryOf(template.get()))) {
            return false;
        }
        if (own == null || own.mayHaveMoved()) {
            synchronized (waiting) {
                startToConnect();
            }
        }
        return true;
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
        return used == null ? acknowledger == null : used.isOpen() || SocketWatchdog.isClosed(used);
    }

    @Override
    public boolean acknowledges() {
        return acknowledger != null;
    }

    /** Lettuce ends each attempt by its own timeouts. */
    @Override
    public boolean isConnecting() {
        return connecting && link == null;
    }

    @Override
    public boolean followsRedirections() {
        Link current = link;
        return current == null || current.commands.getConnection() instanceof StatefulRedisClusterConnection;
    }

    @Override
    public Throwable whyUnanswered() {
        Throwable last = notConnected;
        return last == null || !isConnecting()
                ? ScriptStore.Runner.super.whyUnanswered()
                : new NotConnectedException("the connection is still being made; the last attempt failed", last);
    }

    @Override
    public long epoch() {
        return epoch.get();
    }

    /** Not on connections of the application, which may track keys for itself. */
    @Override
    public boolean announcesChanges() {
        return own != null && tracking.refusedIn != epoch.get() && timer.nanoTime() - tracking.due >= 0;
    }

    @Override
    public void onChange(Consumer<@Nullable String> listener) {
        tracking.listener = listener;
    }

    @Override
    public StoreFailure failureOf(@Nullable Throwable failure) {
        return isOfUnknownNode(failure) || failure instanceof LinkClosedException
                ? StoreFailure.NOT_NOW
                : ScriptStore.Runner.super.failureOf(failure);
    }

    /** The application has another client, so the connection was closed on which the call was sent. */
    private static final class LinkClosedException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        LinkClosedException(Throwable failure) {
            super(failure.getMessage(), failure);
        }
    }

    /** Whether Lettuce sent nothing, because the node that serves the key is not in the topology that it has. */
    private static boolean isOfUnknownNode(@Nullable Throwable failure) {
        return failure != null && NestedExceptionUtils.getMostSpecificCause(failure) instanceof PartitionException;
    }

    @Override
    public void close() {
        synchronized (waiting) {
            closed = true;
            unlink();
        }
        if (own != null) {
            own.close();
        }
    }

    /** Otherwise the client of the application would keep a reference to this closed runner. */
    private void unlink() {
        Link last = link;
        link = null;
        if (last != null) {
            last.client.removeListener(this);
        }
        forgetFailures();
    }

    private void forgetFailures() {
        FailedReconnections former = failures;
        failures = null;
        if (former != null) {
            former.end();
        }
    }

    @Override
    public void whenCut(RedisConnection subscribed, Runnable action) {
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
        FailedReconnections known = failures;
        if (known != null) {
            known.onConnected();
        }
        timer.schedule(0, this::sendWaitingInBackground);
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
     * The call of a script. When it expires, it is removed from the waiting calls and cancelled in Lettuce, so it is
     * not sent later, except over a new connection to a node of a Cluster, for which Lettuce keeps it all the same. If
     * it has been sent, Lettuce still reads its reply.
     */
    private final class Call extends CompletableFuture<Reply> {

        private final Consumer<Reply> late;
        private final LuaScript script;
        private final byte[] key;
        private final byte[][] arguments;
        private final byte[] number = LuaScript.nextNumber();
        private final CompletableFuture<Reply> read = new CompletableFuture<>();
        private volatile boolean begun; // from now on, Lettuce may have a command
        private volatile @Nullable RedisFuture<?> command;

        /** @param late gets a reply that is read after the call has failed, unless it would have to be acknowledged */
        Call(Consumer<Reply> late, LuaScript script, byte[] key, byte[][] arguments) {
            this.late = acknowledger == null ? late : reply -> {};
            this.script = script;
            this.key = key;
            this.arguments = arguments;
        }

        int slot() {
            return SlotHash.getSlot(key);
        }

        /** Makes Redis track a lock that is renewed for one id. Tracking is switched on once for a connection. */
        void sendOn(Link link) {
            begun = true;
            boolean renews = script == LuaScript.RENEW && arguments.length <= RENEWS_ONE;
            var server = renews && announcesChanges() ? link.to(key) : null;
            boolean on = server != null && tracking.isOn(server);
            RedisFuture<?> switchedOn = server == null || on ? null : tracking.switchOn(server);
            if (switchedOn == null) {
                dispatch(link, CommandType.EVALSHA, on ? server : null);
            } else {
                onSent(switchedOn);
                switchedOn.whenComplete(
                        (none, failure) -> dispatch(link, CommandType.EVALSHA, failure == null ? server : null));
            }
        }

        private void onSent(RedisFuture<?> sent) {
            command = sent;
            if (isDone()) {
                withdraw(); // it expired while it was sent
            }
        }

        /**
         * Sends the digest of the script first, and the whole script if Redis does not know it. Never throws: a
         * callback has no caller.
         *
         * @param tracked the connection on which the key is to be tracked, if any
         */
        private void dispatch(Link link, CommandType type, @Nullable StatefulConnection<byte[], byte[]> tracked) {
            if (isDone()) {
                return;
            }
            try {
                Acknowledger.Rounds rounds = acknowledger != null && TAKING_LEASES.contains(script)
                        ? acknowledger.on(link.toMasterOf(key))
                        : null;
                var commands = rounds == null ? link.commands : rounds.commands;
                if (tracked != null) {
                    tracking.trackNext(tracked);
                }
                RedisFuture<Reply> sent = commands.dispatch(type, new Output(number, read), encoded(type));
                onSent(sent);
                if (rounds != null) {
                    rounds.acknowledge(this, sent);
                }
                sent.whenComplete((reply, failure) -> {
                    if (type == CommandType.EVALSHA
                            && failure != null
                            && Futures.unwrap(failure) instanceof RedisNoScriptException) {
                        dispatch(link, CommandType.EVAL, tracked);
                    } else {
                        onAnswer(link, reply, failure, rounds != null);
                    }
                });
            } catch (Throwable notSent) {
                fail(link, notSent);
            }
        }

        private CommandArgs<byte[], byte[]> encoded(CommandType type) {
            CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE)
                    .add(type == CommandType.EVALSHA ? script.getSha1() : script.getScriptAsString())
                    .add(1)
                    .addKey(key); // by which Lettuce finds the node of a Cluster
            for (byte[] argument : arguments) {
                args.add(argument);
            }
            return args.add(number);
        }

        private void onAnswer(Link used, @Nullable Reply reply, @Nullable Throwable failure, boolean acknowledged) {
            if (reply == null) {
                fail(used, failure != null ? failure : new IllegalStateException("no reply"));
            } else if (!acknowledged
                    || !(reply instanceof Reply.Granted
                            || reply instanceof Reply.Renewed
                            || reply instanceof Reply.All)) {
                complete(reply);
            }
        }

        private void fail(Link used, Throwable failure) {
            if (own != null && RedisFailure.isOfReplica(failure)) {
                own.onReplica(used.client);
            } else if (own != null
                    && (acknowledger != null || RedisFailure.isOfNoMaster(failure) || isOfUnknownNode(failure))) {
                own.onSilence(used.client); // no redirection was followed, so nothing else has noticed it
            }
            completeExceptionally(used.isClosed() ? new LinkClosedException(failure) : failure);
        }

        @Override
        public boolean completeExceptionally(Throwable failure) {
            boolean first = super.completeExceptionally(explained(failure));
            if (first) {
                Failures.runAndLog("when a call was withdrawn", this::withdraw);
                read.thenAccept(
                        reply -> Failures.runAndLog("when a late reply was received", () -> late.accept(reply)));
            }
            return first;
        }

        /** Names a missing connection as the cause. Never throws: otherwise the call would never end. */
        private Throwable explained(Throwable failure) {
            try {
                if (!begun) {
                    return RedisFailure.of(failure) == StoreFailure.NOT_SENT
                            ? failure
                            : new NotConnectedException("no connection to Redis", whyNotConnected(failure));
                }
                Link current = link;
                return failure instanceof TimeoutException && (current == null || !reaches(current, key))
                        ? new TimeoutException("the connection was lost before Redis answered")
                        : failure;
            } catch (Throwable notExplained) {
                return failure;
            }
        }

        /** {@return why connecting again failed, if the call has only expired meanwhile and that is known} */
        private Throwable whyNotConnected(Throwable failure) {
            Link current = link;
            if (current == null || !(failure instanceof TimeoutException)) {
                return failure;
            }
            RedisURI node = current.serverOf(key);
            FailedReconnections known = failures;
            Throwable why = own != null ? own.whyNotConnected(node) : known != null ? known.why(node) : null;
            return why == null ? failure : why;
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
     * Reads the reply to one command. If Lettuce has lost count, it is the reply to another command. An exception at
     * the end of a reply makes Lettuce close the socket and send the other commands in flight again on the next one.
     */
    private static final class Output extends CommandOutput<byte[], byte[], Reply> {

        private final byte[] number;
        private final CompletableFuture<Reply> read;
        private boolean refused;

        /** @param read gets the reply, also if the command has been cancelled */
        Output(byte[] number, CompletableFuture<Reply> read) {
            super(ByteArrayCodec.INSTANCE, null);
            this.number = number;
            this.read = read;
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
                read.complete(output);
            } else if (depth == 0 && !refused) {
                throw new ForeignReplyException();
            }
            refused = false; // after a redirection the command is sent again, with this output
        }
    }

    private static LettuceConnectionFactory factoryOf(StringRedisTemplate template) {
        return (LettuceConnectionFactory) template.getRequiredConnectionFactory();
    }

    /** The connection of scripts, to one server or to the masters of a Cluster. */
    private record Link(AbstractRedisAsyncCommands<byte[], byte[]> commands, AbstractRedisClient client) {

        /** Connects with the factory's shared connection. Blocks. */
        @SuppressWarnings("unchecked")
        static Link over(StringRedisTemplate template) {
            // Before the connection: the target of a proxy may change meanwhile.
            AbstractRedisClient client = factoryOf(template).getRequiredNativeClient();
            RedisCallback<Object> nativeConnection = RedisConnection::getNativeConnection;
            var commands = (AbstractRedisAsyncCommands<byte[], byte[]>)
                    Objects.requireNonNull(template.execute(nativeConnection, true));
            return new Link(commands, client);
        }

        /** The connection for commands on the key, of a Cluster that to one master; null if there is none yet. */
        @Nullable
        StatefulConnection<byte[], byte[]> to(byte[] key) {
            StatefulConnection<byte[], byte[]> used = commands.getConnection();
            if (used instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster) {
                RedisURI master = serverOf(key);
                return master == null ? null : known(cluster, master);
            }
            return used;
        }

        /** The master of the key in a Cluster; null if there is none, or only one server. */
        @Nullable
        RedisURI serverOf(byte[] key) {
            RedisClusterNode master =
                    commands.getConnection() instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster
                            ? cluster.getPartitions().getPartitionBySlot(SlotHash.getSlot(key))
                            : null;
            return master == null ? null : master.getUri();
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

        boolean isClosed() {
            return SocketWatchdog.isClosed(commands.getConnection());
        }
    }
}
