package io.github.lockboot.redis.protocol;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.lockboot.engine.EngineContext;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.LockStore;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.engine.StoreFailure;
import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;

/**
 * Locks in Redis: each command runs a script. A command fails if it is not answered within the command timeout, plus at
 * most a tenth. The time in which the first connection is made does not count. All commands have the same timeout and
 * expire in the order in which they were sent, so one periodic check is enough. A timer for each would cost more than
 * the command.
 */
public final class ScriptStore implements LockStore {

    /**
     * Runs scripts without blocking the caller. A future completes on a thread that must not be blocked. If it fails or
     * expires, the script may have run, may run later, or may never run. A reply always belongs to its own call.
     *
     * <p>A reply that comes after its future has failed goes to {@code late}, on a thread that must not be blocked.
     */
    public interface Runner extends LockStore.Client {

        @Override
        default StoreFailure failureOf(@Nullable Throwable failure) {
            boolean wrongServer = failure != null && !followsRedirections() && RedisFailure.isOfRedirection(failure);
            return wrongServer ? StoreFailure.NOT_SENT : RedisFailure.of(failure); // as if nobody were there, for ever
        }

        /**
         * {@return whether the client goes where a node of a Cluster refers it to} If not, that is no server for the
         * key.
         */
        default boolean followsRedirections() {
            return true;
        }

        CompletableFuture<Reply> run(Consumer<Reply> late, LuaScript script, String key, byte[]... arguments);

        /**
         * Sets the listener to changes of keys.
         *
         * @param listener gets the key, or null if any key may have changed; must not block
         */
        default void onChange(Consumer<@Nullable String> listener) {}

        /**
         * Calls the action, on a thread that must not be blocked, when this connection ends, if the client throws no
         * exception then.
         */
        default void whenCut(RedisConnection subscribed, Runnable action) {}

        /** Also closes the connections that were made for this runner. */
        void close();
    }

    private record Sent(CompletableFuture<Reply> reply, long at) {}

    /** The stack that a client needs to send a command, of which Lettuce was measured to use 6. */
    private static final int CLIENT_KILOBYTES = 16;

    private static final String CLIENT = "client:";

    private final Runner runner;
    private final String keyPrefix;
    private final byte[] settings;
    private final byte[] settingsOnCluster;
    private final Timer timer;
    private final long timeoutNanos;
    private final Queue<Sent> inOrder = new ConcurrentLinkedQueue<>();
    private final AtomicLong echoes = new AtomicLong();
    private final Timer.Check check;
    private long connectingAt;
    private volatile boolean closed;

    /** @param timer times the commands */
    public ScriptStore(
            Runner runner,
            String keyPrefix,
            Duration poll,
            Duration patience,
            int maxWaiters,
            int maxHolders,
            Timer timer,
            Duration commandTimeout) {
        this.runner = runner;
        this.keyPrefix = keyPrefix;
        this.timer = timer;
        this.timeoutNanos = commandTimeout.toNanos();
        this.check = timer.check(timeoutNanos / 10, this::expire);
        this.connectingAt = timer.nanoTime() - timeoutNanos;
        String numbers = poll.toMillis() + " " + patience.toMillis() + " " + maxWaiters + " " + maxHolders;
        this.settings = bytes(numbers + " 1 " + keyPrefix + CLIENT);
        this.settingsOnCluster = bytes(numbers + " 0 " + keyPrefix + CLIENT);
        RedisFailure.load();
    }

    /** The channel of a session: grants and hints. */
    public String channelOf(String session) {
        return keyPrefix + CLIENT + session;
    }

    /**
     * The channel on which all registries with this prefix announce to each other what they have loaded into this
     * database.
     */
    public String announcements(int database) {
        return keyPrefix + "flights:" + database;
    }

    public String keyOf(String name) {
        return keyPrefix + name;
    }

    @Override
    public @Nullable String nameOf(String key) {
        return key.length() > keyPrefix.length() && key.startsWith(keyPrefix)
                ? key.substring(keyPrefix.length())
                : null;
    }

    @Override
    public CompletableFuture<Reply> acquire(String name, String id, Terms terms, boolean enqueue, @Nullable Held held) {
        long ttl = terms.ttlMillis();
        int queues = enqueue ? 1 : 0;
        if (held == null) {
            return run(LuaScript.ACQUIRE, name, id, ttl, kindOf(terms), queues);
        }
        long number = held.grantNumber();
        return run(LuaScript.ACQUIRE, name, id, ttl, kindOf(terms), queues, held.id(), number, held.lastToken());
    }

    @Override
    public CompletableFuture<Reply> release(String name, String id, long lastToken, @Nullable Next next) {
        if (next instanceof Next.Queued queued) {
            Terms terms = queued.terms();
            return run(LuaScript.UNLOCK, name, id, lastToken, queued.id(), terms.ttlMillis(), kindOf(terms));
        } else if (next instanceof Next.Kept kept) {
            return run(LuaScript.UNLOCK, name, id, lastToken, "", kept.millis(), kept.grantNumber());
        }
        return run(LuaScript.UNLOCK, name, id, lastToken);
    }

    /** The kind as scripts store it. */
    private static int kindOf(Terms terms) {
        return switch (terms.kind()) {
            case EXCLUSIVE -> 0;
            case SHARED -> -1;
            case LIMITED -> terms.permits();
        };
    }

    @Override
    public CompletableFuture<Reply> renew(String name, List<Grant> grants, Consumer<Reply> late) {
        Object[] arguments = grants.stream()
                .flatMap(grant -> Stream.<Object>of(grant.id(), grant.grantNumber(), grant.ttlMillis()))
                .skip(1)
                .toArray();
        return run(late, LuaScript.RENEW, name, grants.get(0).id(), arguments);
    }

    @Override
    public CompletableFuture<Reply> show(String name) {
        return run(LuaScript.SHOW, name, "");
    }

    /**
     * Publishes an empty message on the channel of the session: {@code PUBLISHED}, or {@link Reply.Unpublished}. As a
     * grant does, it comes from a script on a key of any slot: a server may let scripts publish on channels of their
     * own slot only.
     */
    public CompletableFuture<Reply> echo(String session) {
        return run(LuaScript.PUBLISH, "echo:" + echoes.incrementAndGet(), channelOf(session), "");
    }

    /** Publishes a name on a channel: {@code PUBLISHED}, or {@link Reply.Unpublished}. */
    public CompletableFuture<Reply> announce(String channel, String name) {
        return run(LuaScript.PUBLISH, name, channel, name);
    }

    @Override
    public String displayName() {
        return "Redis";
    }

    @Override
    public Client client() {
        return runner;
    }

    /** Passes the id, the settings and then the others. */
    private CompletableFuture<Reply> run(LuaScript script, String name, String id, Object... others) {
        return run(reply -> {}, script, name, id, others);
    }

    private CompletableFuture<Reply> run(
            Consumer<Reply> late, LuaScript script, String name, String id, Object... others) {
        try {
            EngineContext.requireStack(CLIENT_KILOBYTES);
            CompletableFuture<Reply> reply = runner.run(late, script, keyOf(name), encoded(id, others));
            watch(reply);
            return reply;
        } catch (Throwable failure) { // the command may have been sent all the same
            return CompletableFuture.failedFuture(failure);
        }
    }

    private byte[][] encoded(String id, Object... others) {
        byte[][] arguments = new byte[2 + others.length][];
        arguments[0] = bytes(id);
        arguments[1] = runner.followsRedirections() ? settingsOnCluster : settings;
        for (int i = 0; i < others.length; i++) {
            arguments[2 + i] = bytes(others[i]);
        }
        return arguments;
    }

    private void watch(CompletableFuture<Reply> reply) {
        dropAnswered();
        inOrder.add(new Sent(reply, timer.nanoTime()));
        if (closed) {
            failAll();
        } else {
            check.start();
        }
    }

    /** Removes up to two answered commands for each new one, so that they do not survive young collections. */
    private void dropAnswered() {
        for (int i = 0; i < 2; i++) {
            Sent first = inOrder.peek();
            if (first == null || !first.reply.isDone()) {
                return;
            }
            inOrder.remove(first);
        }
    }

    /** @return whether any command is left */
    private boolean expire() {
        long now = timer.nanoTime();
        connectingAt = runner.isConnecting() ? now : connectingAt;
        for (Sent first = inOrder.peek(); first != null; first = inOrder.peek()) {
            if (!first.reply.isDone() && Math.min(now - first.at, now - connectingAt) < timeoutNanos) {
                break;
            }
            inOrder.remove(first); // before the callbacks, which may throw
            if (!first.reply.isDone()) {
                first.reply.completeExceptionally(new TimeoutException("Redis did not answer in time"));
            }
        }
        return !inOrder.isEmpty();
    }

    /** Fails all unanswered commands, and closes what runs the scripts. */
    public void close() {
        closed = true;
        failAll();
        runner.close();
    }

    private void failAll() {
        for (Sent first = inOrder.poll(); first != null; first = inOrder.poll()) {
            first.reply.completeExceptionally(
                    new TimeoutException("the lock registry was closed before Redis answered"));
        }
    }

    private static byte[] bytes(Object textOrNumber) {
        return textOrNumber.toString().getBytes(StandardCharsets.UTF_8);
    }
}
