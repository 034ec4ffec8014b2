package io.github.lockboot.engine;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * A registry's subscription to the channel of its session, opened at the first wait or before. By a push, the store
 * grants a lock to a waiter, or hints that others wait for a lock held here. Both only save time: waiters poll as well.
 * The default methods are for a store that needs no subscription.
 */
public interface GrantChannel extends AutoCloseable {

    /**
     * A message from the store: {@code <id> <grant number> <lease ms> <waiters> <token> <key>}. It grants the lock to
     * {@code id}. With a grant number of 0, it is a hint: another waits for the lock that {@code id} holds, or the lock
     * for which {@code id} waits becomes free earlier. In both cases {@code waiters} others wait.
     */
    record Push(String id, long grantNumber, long leaseMillis, long waiters, long token, String key) {

        private static final String NUMBER = " (0|[1-9][0-9]{0,17})";
        private static final Pattern FORM =
                Pattern.compile("([^ ]*)" + NUMBER + NUMBER + NUMBER + NUMBER + " (.*)", Pattern.DOTALL);

        public boolean isHint() {
            return grantNumber == 0;
        }

        /** {@return the push; null if the message has another form} */
        public static @Nullable Push parse(String message) {
            Matcher words = FORM.matcher(message);
            return words.matches()
                    ? new Push(
                            words.group(1),
                            Long.parseLong(words.group(2)),
                            Long.parseLong(words.group(3)),
                            Long.parseLong(words.group(4)),
                            Long.parseLong(words.group(5)),
                            words.group(6))
                    : null;
        }
    }

    /** Receives pushes, on a thread that it must not block. */
    interface Subscriber {

        void onPush(Push push);

        /** The channel is subscribed to; earlier pushes may have been missed. */
        void onSubscribed();

        /**
         * A command that was sent because the channel is cut has been answered or, with a failure, has not.
         *
         * @return whether locks work, for all that is known: then the channel alone has a problem
         */
        default boolean onAnswer(@Nullable Throwable failure) {
            return failure == null;
        }
    }

    /** Subscribes in the background, at the first call only. */
    default void open() {}

    /** Subscribes, also during the pause after an attempt that has failed. */
    default void reopen() {
        open();
    }

    default boolean isOpened() {
        return true;
    }

    /** Whether pushes are expected to arrive. */
    default boolean isLive() {
        return true;
    }

    /** {@return why no pushes arrive, if the store refuses them or they get lost; null if that is not known} */
    default @Nullable String problem() {
        return null;
    }

    /** Checks, when a push seems to be missing, whether pushes still arrive, and subscribes again if not. */
    default void verify() {}

    @Override
    default void close() {}
}
