package io.github.lockboot.redis;

/**
 * The registry's one subscription, to the channel of its session: Redis tells there who was granted a lock, and what others
 * wait for. Opened when somebody first waits. Everything works without it, slower.
 */
interface GrantChannel extends AutoCloseable {

    /** What messages do; called on a thread that must not be blocked. */
    interface Subscriber {

        void onPush(Push push);

        /** Messages may have been missed until now. */
        void onSubscribed();
    }

    /** Subscribes in the background, unless that has been done. */
    void open();

    /** Whether pushes can be expected. */
    boolean isLive();

    @Override
    void close();
}
