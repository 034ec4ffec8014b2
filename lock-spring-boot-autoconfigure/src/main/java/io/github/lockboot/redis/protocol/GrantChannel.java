package io.github.lockboot.redis.protocol;

/**
 * The registry's one subscription, to the channel of its session: Redis tells there who was granted a lock, and what others
 * wait for. Opened when somebody first waits. A registry in which somebody follows listens on the same connection to the one
 * channel of completions too. Everything works without either, slower.
 */
public interface GrantChannel extends AutoCloseable {

    /** What messages do; called on a thread that must not be blocked. */
    interface Subscriber {

        void onPush(GrantMessage push);

        /** A holder has completed, which ends the wait of all who follow. */
        void onCompletion(GrantMessage push);

        /** Messages may have been missed until now. */
        void onSubscribed();
    }

    /** Subscribes in the background, unless that has been done. */
    void open();

    /** Whether anybody has waited yet. */
    boolean isOpened();

    /** Has completions listened to as well, as soon as it is open. */
    void follow();

    /** Whether pushes can be expected. */
    boolean isLive();

    /** Finds out whether it still hears, for it should have told something and did not; subscribes anew if not. */
    void verify();

    @Override
    void close();
}
