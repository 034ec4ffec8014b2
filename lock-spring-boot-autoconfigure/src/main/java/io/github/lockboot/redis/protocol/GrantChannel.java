package io.github.lockboot.redis.protocol;

/**
 * A registry's subscription to the channel of its session, opened at the first wait. Redis publishes there that a waiter was
 * granted a lock, or that others wait for a lock held here. A registry with followers also listens, on the same connection, to
 * the channel of completions. Both only save time: waiters poll as well. By default it is one that needs no subscription.
 */
public interface GrantChannel extends AutoCloseable {

    /** Receives messages, on a thread that must not be blocked. */
    interface Subscriber {

        void onPush(GrantMessage push);

        /** A holder has completed, which ends the wait of all its followers. */
        void onCompletion(GrantMessage push);

        /** The channel is subscribed to; earlier messages may have been missed. */
        void onSubscribed();
    }

    /** Subscribes in the background, unless this has been called before. */
    default void open() {}

    /** Whether {@link #open()} has been called. */
    default boolean isOpened() {
        return true;
    }

    /** Subscribes to completions as well, as soon as the channel is open. */
    default void follow() {}

    /** Whether messages are expected to arrive. */
    default boolean isLive() {
        return true;
    }

    /** Finds out whether messages still arrive, because one seems to be missing; subscribes again if they do not. */
    default void verify() {}

    @Override
    default void close() {}
}
