package io.github.lockboot.redis;

import org.jspecify.annotations.Nullable;

/**
 * A message from Redis to a session: {@code <id> <fence> <lease ms> <waiters> <key>}. It tells that {@code id} was granted the
 * lock, or, with a fence of 0, that others wait for what {@code id} holds; on the channel of completions, that {@code id} has
 * completed, the fence being the last token it used.
 */
record Push(String id, long fence, long leaseMillis, long waiters, String key) {

    boolean isHint() {
        return fence == 0;
    }

    /** The message as it was meant, or null for anything that no script of ours would write. */
    static @Nullable Push parse(String message) {
        String[] words = message.split(" ", 5);
        if (words.length < 5) {
            return null;
        }
        try {
            Push push = new Push(
                    words[0], Long.parseLong(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]), words[4]);
            return push.fence < 0 || push.leaseMillis < 0 || push.waiters < 0 ? null : push;
        } catch (NumberFormatException e) {
            return null;
        }
    }
}
