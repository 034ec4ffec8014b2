package io.github.lockboot.redis.connection;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.lockboot.internal.Timer;
import io.github.lockboot.internal.Unexpected;
import io.github.lockboot.redis.protocol.GrantChannel;
import io.github.lockboot.redis.protocol.ScriptStore;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.SubscriptionListener;
import org.springframework.data.redis.listener.ChannelTopic;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;

/**
 * The grant channel on Redis pub/sub, on a connection of its own. The channel of completions shares the connection, but grants
 * do not depend on it: a user may have the right to one channel only. Each channel has these states:
 *
 * <pre>
 *          begin            subscribed             confirmed
 *  UNUSED -------> SUBSCRIBING ------> UNCONFIRMED -------> LIVE
 *                   |  ^    ^            |      ^            |
 *                   +--+    +------------+      +------------+
 *            failed: again  not confirmed in    cut, unsubscribed,
 *            after a pause  time: again         or silent
 * </pre>
 *
 * After a reconnection the client subscribes again by itself, which confirms the channel. It tries only once and does not report
 * a refusal, so a channel that stays unconfirmed is subscribed on a new connection.
 */
public final class PubSubGrantChannel implements GrantChannel {

    private static final Log log = LogFactory.getLog(PubSubGrantChannel.class);

    private static final long FIRST_PAUSE_MILLIS = 200;
    private static final long LONGEST_PAUSE_MILLIS = 30_000;
    private static final long CONFIRMED_WITHIN_MILLIS = 1_000;
    private static final long LONGEST_SILENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

    private enum State {
        UNUSED,
        SUBSCRIBING,
        UNCONFIRMED,
        LIVE
    }

    private final Function<Consumer<Boolean>, ? extends RedisConnectionFactory> connections;
    private final ScriptStore store;
    private final Supplier<String> session;
    private final Duration echoWithin;
    private final Subscriber subscriber;
    private final Timer timer;
    private final Executor workers;
    private final Subscription grants;
    private final Subscription completions;
    private volatile boolean closed;
    private volatile @Nullable RedisMessageListenerContainer newest; // may be about to start

    /** Null while the channel is subscribed on a new connection, which is done at one place at a time. */
    private final AtomicReference<@Nullable RedisMessageListenerContainer> connection = new AtomicReference<>();

    /**
     * @param connections registers a watch, see {@link Connections#watchedBy}, and returns the factory
     * @param echoWithin the time within which an echo arrives after its answer
     */
    public PubSubGrantChannel(
            Function<Consumer<Boolean>, ? extends RedisConnectionFactory> connections,
            ScriptStore store,
            Supplier<String> session,
            Duration echoWithin,
            Subscriber subscriber,
            Timer timer,
            Executor workers) {
        this.connections = connections;
        this.store = store;
        this.session = session;
        this.echoWithin = echoWithin;
        this.subscriber = subscriber;
        this.timer = timer;
        this.workers = workers;
        this.grants = new Subscription(() -> store.channelOf(session.get()), this::connect, subscriber::onPush);
        this.completions = new Subscription(store::completionChannel, this::addCompletions, subscriber::onCompletion);
    }

    @Override
    public void open() {
        if (grants.begin()) {
            timer.repeat(LONGEST_SILENCE_NANOS / 3, LONGEST_SILENCE_NANOS / 3, () -> {
                if (timer.nanoTime() - grants.heardAt >= LONGEST_SILENCE_NANOS) {
                    verify();
                }
            });
        }
    }

    @Override
    public boolean isOpened() {
        return grants.state.get() != State.UNUSED;
    }

    @Override
    public void follow() {
        completions.begin();
    }

    @Override
    public boolean isLive() {
        return grants.state.get() == State.LIVE && !closed;
    }

    /**
     * Sends an echo: a connection that was cut without notice looks like one without messages, and one that is reported cut may be
     * another of a client that is shared.
     */
    @Override
    public void verify() {
        Object doubt = new Object();
        if (!closed && grants.isSubscribed() && grants.doubt.compareAndSet(null, doubt)) {
            CompletableFuture.completedFuture(doubt)
                    .thenCompose(asked -> store.echo(session.get()))
                    .thenAccept(published -> timer.schedule(echoWithin.toNanos(), () -> judge(doubt)))
                    .exceptionally(
                            failure -> { // without an answer of Redis, the missing echo proves nothing
                                grants.doubt.set(null);
                                return null;
                            });
        }
    }

    private void judge(Object doubt) {
        if (grants.doubt.compareAndSet(doubt, null) && isLive()) {
            grants.onSilence();
            inBackground(() -> {
                connectAgainIfUnconfirmed();
                log.warn("No messages arrive on the channel " + grants.channel.get() + "; subscribing again");
            });
        }
    }

    @Override
    public void close() {
        closed = true;
        destroy(newest);
    }

    private boolean connect() {
        RedisMessageListenerContainer made = new RedisMessageListenerContainer();
        newest = made;
        try {
            made.setTaskExecutor(Runnable::run);
            made.setSubscriptionExecutor(workers);
            made.setRecoveryInterval(FIRST_PAUSE_MILLIS);
            made.addMessageListener(grants, new ChannelTopic(grants.channel.get()));
            made.setConnectionFactory(connections.apply(this::onConnection));
            made.afterPropertiesSet();
            made.start();
            connection.set(made);
            if (completions.state.updateAndGet(state -> state == State.UNUSED ? state : State.SUBSCRIBING)
                    == State.SUBSCRIBING) {
                inBackground(completions::subscribe);
            }
        } catch (Throwable failure) {
            connection.compareAndSet(made, null);
            destroy(made);
            throw failure;
        }
        if (closed) {
            destroy(made);
        }
        return true;
    }

    private void onConnection(boolean connected) {
        if (connected) {
            later(CONFIRMED_WITHIN_MILLIS, this::connectAgainIfUnconfirmed);
        } else {
            grants.onSilence();
            inBackground(this::verify);
        }
    }

    private void connectAgainIfUnconfirmed() {
        RedisMessageListenerContainer silent = connection.get();
        boolean confirmed = grants.state.get() != State.UNCONFIRMED;
        if (silent != null && !closed && !confirmed && connection.compareAndSet(silent, null)) {
            destroy(silent);
            grants.state.set(State.SUBSCRIBING); // whatever became of it before its end
            grants.subscribe();
        }
    }

    /** Returns false without a connection: {@link #connect} adds completions to a new one. */
    private boolean addCompletions() {
        RedisMessageListenerContainer current = connection.get();
        if (current != null) {
            try {
                current.addMessageListener(completions, new ChannelTopic(completions.channel.get()));
            } catch (Throwable failure) {
                current.removeMessageListener(completions);
                throw failure;
            }
        }
        return current != null;
    }

    private static void destroy(@Nullable RedisMessageListenerContainer container) {
        try {
            if (container != null) {
                container.destroy();
            }
        } catch (Throwable notClosed) { // also an Error: the channel is subscribed anew after it
            log.debug("Closing the lock channel failed", notClosed);
        }
    }

    private void later(long delayMillis, Runnable blocking) {
        timer.schedule(TimeUnit.MILLISECONDS.toNanos(delayMillis), () -> inBackground(blocking));
    }

    private void inBackground(Runnable blocking) {
        try {
            workers.execute(blocking);
        } catch (Throwable noThread) {
            later(FIRST_PAUSE_MILLIS, blocking);
        }
    }

    /** One of the two channels. The thread of the connection calls the listener and must not be blocked. */
    private final class Subscription implements MessageListener, SubscriptionListener {

        private final Supplier<String> channel;
        private final BooleanSupplier listen;
        private final Consumer<Push> receiver;
        private final AtomicReference<State> state = new AtomicReference<>(State.UNUSED);
        private final AtomicReference<@Nullable Object> doubt = new AtomicReference<>();
        private volatile long pauseMillis = FIRST_PAUSE_MILLIS;
        private volatile long heardAt;

        /** @param listen blocks; returns whether there is a connection */
        Subscription(Supplier<String> channel, BooleanSupplier listen, Consumer<Push> receiver) {
            this.channel = channel;
            this.listen = listen;
            this.receiver = receiver;
        }

        /** Subscribes at the first call; if that fails, at the next. Returns whether this call does it. */
        boolean begin() {
            boolean first = state.compareAndSet(State.UNUSED, State.SUBSCRIBING);
            if (first) {
                onHeard();
                orBeginAnew(() -> inBackground(this::subscribe));
            }
            return first;
        }

        private void orBeginAnew(Runnable planning) {
            try {
                planning.run();
            } catch (Throwable notPlanned) {
                state.set(State.UNUSED);
                throw notPlanned;
            }
        }

        void subscribe() {
            try {
                if (!closed && state.get() == State.SUBSCRIBING && listen.getAsBoolean()) {
                    pauseMillis = FIRST_PAUSE_MILLIS;
                    state.compareAndSet(State.SUBSCRIBING, State.UNCONFIRMED); // unless it is live already
                }
            } catch (Throwable failure) { // also an Error: nothing else would try again
                long pause = pauseMillis;
                pauseMillis = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
                state.set(State.SUBSCRIBING);
                orBeginAnew(() -> later(pause, this::subscribe));
                if (pause == FIRST_PAUSE_MILLIS && !closed) { // last: a log may block
                    log.warn("Subscribing to the channel " + channel.get() + " failed, so waiters only poll: "
                            + Unexpected.reasonOf(failure));
                }
            }
        }

        private boolean isSubscribed() {
            State now = state.get();
            return now == State.LIVE || now == State.UNCONFIRMED;
        }

        void onSilence() {
            state.compareAndSet(State.LIVE, State.UNCONFIRMED);
        }

        private void onHeard() {
            doubt.set(null);
            heardAt = timer.nanoTime();
        }

        @Override
        public void onMessage(Message message, byte @Nullable [] pattern) {
            onHeard();
            state.compareAndSet(State.UNCONFIRMED, State.LIVE); // a message confirms it, too
            Push push = Push.parse(new String(message.getBody(), StandardCharsets.UTF_8));
            if (push != null) {
                receiver.accept(push);
            }
        }

        @Override
        public void onChannelSubscribed(byte[] subscribed, long count) {
            onHeard();
            state.set(State.LIVE);
            subscriber.onSubscribed();
        }

        @Override
        public void onChannelUnsubscribed(byte[] unsubscribed, long count) {
            onSilence();
        }
    }
}
