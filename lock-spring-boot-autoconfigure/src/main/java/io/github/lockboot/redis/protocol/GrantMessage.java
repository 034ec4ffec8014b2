package io.github.lockboot.redis.protocol;

import org.jspecify.annotations.Nullable;

/**
 * A message from Redis: {@code <id> <fence> <lease ms> <waiters> <key>}. On the channel of a session it says that {@code id} has
 * been granted the lock or, as a hint with a fence of 0, that others wait for the lock that {@code id} holds. On the channel of
 * completions it says that {@code id} has completed; the fence is the last token it used.
 */
public record GrantMessage(String id, long fence, long leaseMillis, long waiters, String key) {

    private static final int MOST_DIGITS = 18;

    public boolean isHint() {
        return fence == 0;
    }

    /** {@return the message, or null if no script of this library would write it so} */
    public static @Nullable GrantMessage parse(String message) {
        String[] words = message.split(" ", 5);
        if (words.length < 5) {
            return null;
        }
        GrantMessage parsed =
                new GrantMessage(words[0], number(words[1]), number(words[2]), number(words[3]), words[4]);
        return parsed.fence < 0 || parsed.leaseMillis < 0 || parsed.waiters < 0 ? null : parsed;
    }

    /** {@return the number, or -1 if no script would write it so} */
    private static long number(String word) {
        int length = word.length();
        if (length == 0 || length > MOST_DIGITS || length > 1 && word.charAt(0) == '0') {
            return -1;
        }
        long number = 0;
        for (int i = 0; i < length; i++) {
            int digit = word.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return -1;
            }
            number = 10 * number + digit;
        }
        return number;
    }
}
