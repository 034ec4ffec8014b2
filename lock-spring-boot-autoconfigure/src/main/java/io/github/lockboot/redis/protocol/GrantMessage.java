package io.github.lockboot.redis.protocol;

import org.jspecify.annotations.Nullable;

/**
 * A message from Redis to a session: {@code <id> <fence> <lease ms> <waiters> <key>}. It tells that {@code id} was granted the
 * lock, or, with a fence of 0, that others wait for what {@code id} holds; on the channel of completions, that {@code id} has
 * completed, the fence being the last token it used.
 */
public record GrantMessage(String id, long fence, long leaseMillis, long waiters, String key) {

    private static final int MOST_DIGITS = 18;

    public boolean isHint() {
        return fence == 0;
    }

    /** The message as it was meant, or null for anything that no script of ours would write. */
    public static @Nullable GrantMessage parse(String message) {
        String[] words = message.split(" ", 5);
        if (words.length < 5) {
            return null;
        }
        GrantMessage push = new GrantMessage(words[0], number(words[1]), number(words[2]), number(words[3]), words[4]);
        return push.fence < 0 || push.leaseMillis < 0 || push.waiters < 0 ? null : push;
    }

    /** Less than 0 if a script would not write it so. */
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
