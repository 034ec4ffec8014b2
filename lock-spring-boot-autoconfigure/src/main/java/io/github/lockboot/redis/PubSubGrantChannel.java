package io.github.lockboot.redis;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.SubscriptionListener;
import org.springframework.data.redis.listener.ChannelTopic;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;

/** The grant channel on Redis pub/sub, subscribed to on a connection of its own. */
final class PubSubGrantChannel implements GrantChannel {

    private static final Log log = LogFactory.getLog(PubSubGrantChannel.class);

    private static final long RECOVERY_MILLIS = 200;
    private static final long LONGEST_RECOVERY_MILLIS = 30_000;
    private static final long SUBSCRIBED_WITHIN_MILLIS = 1_000;

    private final Supplier<? extends RedisConnectionFactory> connectionFactory;
    private final Consumer<Connections.SubscriptionWatch> subscriptions;
    private final Supplier<String> channel;
    private final String completionChannel;
    private final Subscriber subscriber;
    private final Timer timer;
    private final Executor workers;
    private final Cuts cuts = new Cuts();
    private final AtomicBoolean opened = new AtomicBoolean();
    private final AtomicBoolean followed = new AtomicBoolean();
    private volatile boolean live;
    private volatile long retryMillis = RECOVERY_MILLIS;
    private volatile long completionsRetryMillis = RECOVERY_MILLIS;
    private volatile boolean closed;
    private volatile @Nullable RedisMessageListenerContainer container;
    private final AtomicReference<@Nullable RedisMessageListenerContainer> started = new AtomicReference<>();

    /** The one that listens to completions, too. */
    private final AtomicReference<@Nullable RedisMessageListenerContainer> following = new AtomicReference<>();

    PubSubGrantChannel(
            Supplier<? extends RedisConnectionFactory> connectionFactory,
            Consumer<Connections.SubscriptionWatch> subscriptions,
            Supplier<String> channel,
            String completionChannel,
            Subscriber subscriber,
            Timer timer,
            Executor workers) {
        this.connectionFactory = connectionFactory;
        this.subscriptions = subscriptions;
        this.channel = channel;
        this.completionChannel = completionChannel;
        this.subscriber = subscriber;
        this.timer = timer;
        this.workers = workers;
    }

    @Override
    public void open() {
        if (!opened.get() && opened.compareAndSet(false, true)) {
            workers.execute(this::subscribe);
        }
    }

    @Override
    public boolean isOpened() {
        return opened.get();
    }

    @Override
    public void follow() {
        if (!followed.get() && followed.compareAndSet(false, true) && started.get() != null) {
            workers.execute(this::addCompletions);
        }
    }

    /** Beside the session's channel, which must not depend on whether this one is allowed. */
    private void addCompletions() {
        RedisMessageListenerContainer running = started.get();
        if (running == null || closed || following.getAndSet(running) == running) {
            return;
        }
        CompletionListener listener = new CompletionListener();
        try {
            running.addMessageListener(listener, new ChannelTopic(completionChannel));
            completionsRetryMillis = RECOVERY_MILLIS;
        } catch (RuntimeException failure) {
            running.removeMessageListener(listener);
            following.compareAndSet(running, null);
            if (completionsRetryMillis == RECOVERY_MILLIS) {
                log.warn("The channel " + completionChannel
                        + " cannot be subscribed to, so those who wait for a flight only poll: " + failure);
            }
            timer.schedule(
                    TimeUnit.MILLISECONDS.toNanos(completionsRetryMillis), () -> workers.execute(this::addCompletions));
            completionsRetryMillis = Math.min(2 * completionsRetryMillis, LONGEST_RECOVERY_MILLIS);
        }
    }

    @Override
    public boolean isLive() {
        return live;
    }

    @Override
    public void close() {
        closed = true;
        live = false;
        RedisMessageListenerContainer current = container;
        if (current != null) {
            destroy(current);
        }
    }

    private void subscribe() {
        if (closed) {
            return;
        }
        RedisMessageListenerContainer made = new RedisMessageListenerContainer();
        made.setTaskExecutor(Runnable::run);
        made.setSubscriptionExecutor(workers);
        made.setRecoveryInterval(RECOVERY_MILLIS);
        made.addMessageListener(new Listener(), new ChannelTopic(channel.get()));
        container = made;
        if (closed) {
            return; // close() may have looked before
        }
        try {
            subscriptions.accept(cuts);
            made.setConnectionFactory(connectionFactory.get());
            made.afterPropertiesSet();
            made.start();
            retryMillis = RECOVERY_MILLIS;
            started.set(made);
            if (closed) {
                destroy(made);
            } else if (followed.get()) {
                workers.execute(this::addCompletions);
            }
        } catch (RuntimeException failure) {
            destroy(made);
            retryLater(failure);
        }
    }

    private void retryLater(RuntimeException failure) {
        if (retryMillis == RECOVERY_MILLIS) {
            log.warn("The channel " + channel.get() + " cannot be subscribed to, so waiters for locks only poll: "
                    + failure);
        }
        timer.schedule(TimeUnit.MILLISECONDS.toNanos(retryMillis), () -> workers.execute(this::subscribe));
        retryMillis = Math.min(2 * retryMillis, LONGEST_RECOVERY_MILLIS);
    }

    /** The client subscribes again when it is connected again, but only once, and does not tell when that was refused. */
    private final class Cuts implements Connections.SubscriptionWatch {

        @Override
        public void onCut() {
            live = false;
        }

        @Override
        public void onConnected() {
            timer.schedule(
                    TimeUnit.MILLISECONDS.toNanos(SUBSCRIBED_WITHIN_MILLIS),
                    () -> workers.execute(PubSubGrantChannel.this::subscribeAnewIfDeaf));
        }
    }

    private void subscribeAnewIfDeaf() {
        RedisMessageListenerContainer deaf = live || closed ? null : started.getAndSet(null);
        if (deaf != null) {
            destroy(deaf);
            subscribe();
        }
    }

    private static void destroy(RedisMessageListenerContainer container) {
        try {
            container.destroy();
        } catch (Exception e) {
            log.debug("Lock channel did not close cleanly", e);
        }
    }

    /** Called on the connection's own thread, and does not block it. */
    private final class Listener implements MessageListener, SubscriptionListener {

        @Override
        public void onMessage(Message message, byte @Nullable [] pattern) {
            Push push = Push.parse(new String(message.getBody(), StandardCharsets.UTF_8));
            if (push != null) {
                subscriber.onPush(push);
            }
        }

        @Override
        public void onChannelSubscribed(byte[] subscribed, long count) {
            live = true;
            subscriber.onSubscribed();
        }

        @Override
        public void onChannelUnsubscribed(byte[] unsubscribed, long count) {
            live = false;
        }
    }

    /** As the other. */
    private final class CompletionListener implements MessageListener, SubscriptionListener {

        @Override
        public void onMessage(Message message, byte @Nullable [] pattern) {
            Push push = Push.parse(new String(message.getBody(), StandardCharsets.UTF_8));
            if (push != null) {
                subscriber.onCompletion(push);
            }
        }

        @Override
        public void onChannelSubscribed(byte[] subscribed, long count) {
            subscriber.onSubscribed();
        }
    }
}
