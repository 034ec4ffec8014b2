package io.github.lockboot.redis.connection;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.lockboot.internal.Failures;
import io.github.lockboot.internal.Logs;
import org.apache.commons.logging.Log;
import org.jspecify.annotations.Nullable;
import org.springframework.context.Lifecycle;
import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.Subscription;
import org.springframework.data.redis.connection.SubscriptionListener;

/**
 * A channel on one connection, until that is cut or not used any more. Subscribing ends at once with Lettuce and
 * Redisson, which then call on threads of theirs. With Jedis it ends with the subscription, or when the connection is
 * cut, and until then only its thread may close the connection.
 */
final class Listening implements MessageListener, SubscriptionListener {

    private static final Log log = Logs.of(Listening.class);

    private static final String JEDIS = "redis.clients.jedis.Jedis";
    private static final String OF_JEDIS = "org.springframework.data.redis.connection.jedis.";

    private final PubSubGrantChannel.Subscription subscription;
    private final Executor background;
    private volatile @Nullable RedisConnection connection;
    private volatile boolean subscribed;
    private volatile boolean returned;
    private volatile boolean over;
    private final AtomicBoolean unsubscribing = new AtomicBoolean();
    private final AtomicBoolean closing = new AtomicBoolean();

    /** @param background for what may block */
    Listening(PubSubGrantChannel.Subscription subscription, Executor background) {
        this.subscription = subscription;
        this.background = background;
    }

    /** Blocks. */
    void run(Connections connections, String channel) {
        Throwable failure = null;
        boolean stopped = false;
        try {
            RedisConnectionFactory factory = connections.template().get().getRequiredConnectionFactory();
            stopped = factory instanceof Lifecycle known && !known.isRunning();
            RedisConnection made = factory.getConnection();
            connection = made;
            if (!over) {
                made.subscribe(this, channel.getBytes(StandardCharsets.UTF_8));
            }
            if (!over) {
                connections.runner().whenCut(made, () -> subscription.onCut(this));
            }
        } catch (Throwable thrown) { // also an Error: nothing else would try again
            failure = thrown;
        }
        returned = true;
        if (failure != null && (subscribed || stopped)) {
            subscription.onCut(this);
        } else if (failure != null) {
            subscription.onFailed(this, failure);
        }
        release();
    }

    /** Ends the subscription, and ignores its later events. Does not block. */
    void end() {
        over = true;
        background.execute(this::release);
    }

    /** Ends what can be ended by now. Called when that has changed. */
    private void release() {
        RedisConnection used = connection;
        if (used != null && over) {
            if (subscribed && unsubscribing.compareAndSet(false, true)) {
                Subscription made = used.getSubscription();
                attempt(made == null ? () -> {} : made::close);
            }
            if (returned && closing.compareAndSet(false, true)) {
                attempt(() -> close(used));
            }
        }
    }

    /**
     * Jedis unsubscribes when it closes a connection, also after a refusal, and does not read the answer. The next user
     * of the connection would take that for the answer to another command. Where the user may not unsubscribe, the
     * connection stays subscribed. So Jedis is made to drop the connection. Other clients of Jedis have taken it back
     * to their pool already, and have nothing to close.
     */
    private static void close(RedisConnection used) {
        if (!used.getClass().getName().startsWith(OF_JEDIS)) {
            used.close();
        } else if (used.getNativeConnection().getClass().getName().equals(JEDIS)) {
            attempt(() -> used.execute("QUIT"));
            attempt(() -> used.execute("PING")); // fails
            used.close();
        }
    }

    private static void attempt(Runnable end) {
        try {
            end.run();
        } catch (Throwable notEnded) { // also an Error: the channel is subscribed anew
            log.debug("Closing the lock channel failed", notEnded);
        }
    }

    /**
     * An exception thrown into Jedis ends reading, but not the subscription: the next user of the connection would get
     * messages that are not for it.
     */
    private static void report(Runnable event) {
        Failures.runAndLog("on the lock channel", event);
    }

    @Override
    public void onMessage(Message message, byte @Nullable [] pattern) {
        report(() -> subscription.onMessage(this, message.getBody()));
    }

    @Override
    public void onChannelSubscribed(byte[] channel, long count) {
        subscribed = true;
        report(() -> {
            subscription.onSubscribed(this);
            if (over) {
                end();
            }
        });
    }

    @Override
    public void onChannelUnsubscribed(byte[] channel, long count) {
        report(() -> subscription.onCut(this));
    }
}
