package io.github.lockboot.redis.connection;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.protocol.GrantChannel;
import io.github.lockboot.redis.protocol.GrantMessage;
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
public final class PubSubGrantChannel implements GrantChannel {

    private static final Log log = LogFactory.getLog(PubSubGrantChannel.class);

    private static final long RECOVERY_MILLIS = 200;
    private static final long LONGEST_RECOVERY_MILLIS = 30_000;
    private static final long SUBSCRIBED_WITHIN_MILLIS = 1_000;
    private static final long LONGEST_SILENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final Supplier<? extends RedisConnectionFactory> connectionFactory;
    private final Consumer<Connections.SubscriptionWatch> subscriptions;
    private final Supplier<String> channel;
    private final String completionChannel;
    private final Echo echo;
    private final Subscriber subscriber;
    private final Timer timer;
    private final Executor workers;
    private final Cuts cuts = new Cuts();
    private final AtomicBoolean opened = new AtomicBoolean();
    private final AtomicBoolean followed = new AtomicBoolean();
    private final AtomicBoolean looking = new AtomicBoolean();
    private final AtomicBoolean verifying = new AtomicBoolean();
    private volatile boolean live;
    private final AtomicLong heard = new AtomicLong();
    private volatile long heardAt;
    private volatile long retryMillis = RECOVERY_MILLIS;
    private volatile long completionsRetryMillis = RECOVERY_MILLIS;
    private volatile boolean closed;
    private volatile @Nullable RedisMessageListenerContainer container;
    private final AtomicReference<@Nullable RedisMessageListenerContainer> started = new AtomicReference<>();

    /** The one that listens to completions, too. */
    private final AtomicReference<@Nullable RedisMessageListenerContainer> following = new AtomicReference<>();

    /**
     * What shows whether the channel hears.
     *
     * @param ask has a message published on the channel of the session
     * @param within how soon after the answer the message has come, if it comes
     */
    public record Echo(Supplier<? extends CompletableFuture<?>> ask, Duration within) {}

    public PubSubGrantChannel(
            Supplier<? extends RedisConnectionFactory> connectionFactory,
            Consumer<Connections.SubscriptionWatch> subscriptions,
            Supplier<String> channel,
            String completionChannel,
            Echo echo,
            Subscriber subscriber,
            Timer timer,
            Executor workers) {
        this.connectionFactory = connectionFactory;
        this.subscriptions = subscriptions;
        this.channel = channel;
        this.completionChannel = completionChannel;
        this.echo = echo;
        this.subscriber = subscriber;
        this.timer = timer;
        this.workers = workers;
    }

    @Override
    public void open() {
        if (!opened.get() && opened.compareAndSet(false, true)) {
            try {
                workers.execute(this::subscribe);
            } catch (Throwable noThread) { // who waits next tries again
                opened.set(false);
                throw noThread;
            }
        }
    }

    @Override
    public boolean isOpened() {
        return opened.get();
    }

    @Override
    public void follow() {
        if (!followed.get() && followed.compareAndSet(false, true) && started.get() != null) {
            try {
                workers.execute(this::addCompletions);
            } catch (Throwable noThread) { // who follows next tries again
                followed.set(false);
                throw noThread;
            }
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
        } catch (Throwable failure) {
            running.removeMessageListener(listener);
            following.compareAndSet(running, null);
            if (completionsRetryMillis == RECOVERY_MILLIS) {
                log.warn("The channel " + completionChannel
                        + " cannot be subscribed to, so those who wait for a flight only poll: " + failure);
            }
            startLater(completionsRetryMillis, this::addCompletions);
            completionsRetryMillis = Math.min(2 * completionsRetryMillis, LONGEST_RECOVERY_MILLIS);
        }
    }

    @Override
    public boolean isLive() {
        return live;
    }

    /** A connection that was cut without a word is one on which nothing comes, and nothing is owed. */
    @Override
    public void verify() {
        if (!live || closed || !verifying.compareAndSet(false, true)) {
            return;
        }
        long before = heard.get();
        echo.ask.get().whenComplete((published, failure) -> {
            if (failure == null) {
                timer.schedule(echo.within.toNanos(), () -> judge(before));
            } else {
                verifying.set(false); // Redis could not be asked, which says nothing of the channel
            }
        });
    }

    private void onHeard() {
        heard.incrementAndGet();
        heardAt = timer.nanoTime();
    }

    private void judge(long before) {
        verifying.set(false);
        if (live && !closed && heard.get() == before) {
            live = false;
            log.warn("What is published on the channel " + channel.get() + " does not come; it is subscribed to anew");
            workers.execute(this::subscribeAnewIfDeaf);
        }
    }

    /** Looks when nothing has come for long: it may be that nothing can. */
    private void lookAfter(long nanos) {
        timer.schedule(nanos, () -> {
            long left = LONGEST_SILENCE_NANOS - (timer.nanoTime() - heardAt);
            if (left <= 0) {
                verify();
            }
            lookAfter(left > 0 ? left : LONGEST_SILENCE_NANOS);
        });
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
        try {
            made.setTaskExecutor(Runnable::run);
            made.setSubscriptionExecutor(workers);
            made.setRecoveryInterval(RECOVERY_MILLIS);
            made.addMessageListener(new Listener(), new ChannelTopic(channel.get()));
            container = made;
            if (closed) {
                return; // close() may have looked before
            }
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
        } catch (Throwable failure) { // no memory or no thread among them: nobody else would try again
            destroy(made);
            retryLater(failure);
        }
    }

    private void retryLater(Throwable failure) {
        if (retryMillis == RECOVERY_MILLIS) {
            log.warn("The channel " + channel.get() + " cannot be subscribed to, so waiters for locks only poll: "
                    + failure);
        }
        try {
            startLater(retryMillis, this::subscribe);
        } catch (Throwable notScheduled) { // who waits next tries again
            opened.set(false);
            throw notScheduled;
        }
        retryMillis = Math.min(2 * retryMillis, LONGEST_RECOVERY_MILLIS);
    }

    private void startLater(long delayMillis, Runnable blocking) {
        timer.schedule(TimeUnit.MILLISECONDS.toNanos(delayMillis), () -> {
            try {
                workers.execute(blocking);
            } catch (Throwable noThread) {
                startLater(LONGEST_RECOVERY_MILLIS, blocking);
            }
        });
    }

    /** The client subscribes again when it is connected again, but only once, and does not tell when that was refused. */
    private final class Cuts implements Connections.SubscriptionWatch {

        @Override
        public void onCut() {
            live = false;
        }

        @Override
        public void onConnected() {
            startLater(SUBSCRIBED_WITHIN_MILLIS, PubSubGrantChannel.this::subscribeAnewIfDeaf);
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
            onHeard();
            GrantMessage push = GrantMessage.parse(new String(message.getBody(), StandardCharsets.UTF_8));
            if (push != null) {
                subscriber.onPush(push);
            }
        }

        @Override
        public void onChannelSubscribed(byte[] subscribed, long count) {
            onHeard();
            live = true;
            if (looking.compareAndSet(false, true)) {
                lookAfter(LONGEST_SILENCE_NANOS);
            }
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
            GrantMessage push = GrantMessage.parse(new String(message.getBody(), StandardCharsets.UTF_8));
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
