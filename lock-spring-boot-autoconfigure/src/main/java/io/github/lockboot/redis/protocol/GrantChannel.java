package io.github.lockboot.redis.protocol;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * A registry's subscription to the channel of its session, opened at the first wait. Redis pushes there that a waiter was granted a
 * lock, or that others wait for a lock held here. A registry with followers also listens, on the same connection, to the channel of
 * completions. Both only save time: waiters poll as well. The default methods are those of a channel that is always live.
 */
public interface GrantChannel extends AutoCloseable {

    /**
     * A message from Redis: {@code <id> <fence> <lease ms> <waiters> <key>}. On the channel of a session it says that {@code id} has
     * been granted the lock or, as a hint with a fence of 0, that others wait for the lock that {@code id} holds. On the channel of
     * completions it says that {@code id} has completed; the fence is the last token it used.
     */
    record Push(String id, long fence, long leaseMillis, long waiters, String key) {

        private static final String NUMBER = " (0|[1-9][0-9]{0,17})";
        private static final Pattern FORM =
                Pattern.compile("([^ ]*)" + NUMBER + NUMBER + NUMBER + " (.*)", Pattern.DOTALL);

        public boolean isHint() {
            return fence == 0;
        }

        /** {@return what the message says; null if no script of this library would write it so} */
        public static @Nullable Push parse(String message) {
            Matcher words = FORM.matcher(message);
            return words.matches()
                    ? new Push(words.group(1), number(words, 2), number(words, 3), number(words, 4), words.group(5))
                    : null;
        }

        private static long number(Matcher words, int group) {
            return Long.parseLong(words.group(group));
        }
    }

    /** Receives pushes, on a thread that must not be blocked. */
    interface Subscriber {

        void onPush(Push push);

        /** A holder has completed, which ends the wait of all its followers. */
        void onCompletion(Push push);

        /** The channel is subscribed to; earlier pushes may have been missed. */
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

    /** Whether pushes are expected to arrive. */
    default boolean isLive() {
        return true;
    }

    /** Finds out whether pushes still arrive, because one seems to be missing; subscribes again if they do not. */
    default void verify() {}

    @Override
    default void close() {}
}
