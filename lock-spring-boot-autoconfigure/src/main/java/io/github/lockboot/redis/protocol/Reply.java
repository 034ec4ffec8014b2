package io.github.lockboot.redis.protocol;

import io.github.lockboot.internal.LockNames;

/** What a script answered. */
public sealed interface Reply {

    /** The number of characters that an error shows of an unknown reply. */
    int SHOWN = 80;

    /** The caller owns the lock, by {@code acquire}, or its next id does, by {@code unlock}. */
    record Owner(long fence, long leaseMillis, long waiters) implements Reply {}

    /** The id is in the queue, at a position from 1; {@code fence} is the newest token so far. */
    record Queued(long position, long fence, long leftMillis) implements Reply {}

    /** Another owns the lock and the id is not queued: not requested, the queue is full, or the key is not a lock. */
    record Busy(long leftMillis) implements Reply {}

    record Released() implements Reply {}

    record HandedOver() implements Reply {}

    record NotOwner() implements Reply {}

    record Renewed(long leaseMillis, long waiters) implements Reply {}

    record Left() implements Reply {}

    record Completed() implements Reply {}

    record GivenAway() implements Reply {}

    record Unknown() implements Reply {}

    record Free() implements Reply {}

    record Foreign() implements Reply {}

    record Published() implements Reply {}

    record Held(long fence, long leftMillis, String owner) implements Reply {}

    /**
     * @param line a status word and numbers, separated by spaces; text comes last
     * @throws IllegalStateException if no script of this library answers so
     */
    static Reply parse(String line) {
        String[] words = line.split(" ", 4);
        try {
            return of(words);
        } catch (IllegalArgumentException strange) {
            String start = line.substring(0, Math.min(line.length(), SHOWN));
            throw new IllegalStateException("a lock script answered '" + LockNames.printable(start) + "'", strange);
        }
    }

    private static Reply of(String[] words) {
        return switch (words[0]) {
            case "OWNER", "KEPT" -> new Owner(number(words, 1), number(words, 2), number(words, 3));
            case "QUEUED" -> new Queued(number(words, 1), number(words, 2), number(words, 3));
            case "BUSY" -> new Busy(number(words, 1));
            case "RELEASED" -> new Released();
            case "HANDED_OVER" -> new HandedOver();
            case "NOT_OWNER" -> new NotOwner();
            case "RENEWED" -> new Renewed(number(words, 1), number(words, 2));
            case "LEFT" -> new Left();
            case "COMPLETED" -> new Completed();
            case "GIVEN_AWAY" -> new GivenAway();
            case "UNKNOWN" -> new Unknown();
            case "FREE" -> new Free();
            case "FOREIGN" -> new Foreign();
            case "PUBLISHED" -> new Published();
            case "HELD" -> new Held(number(words, 1), number(words, 2), word(words, 3));
            default -> throw new IllegalArgumentException("unknown status word");
        };
    }

    private static long number(String[] words, int index) {
        return Long.parseLong(word(words, index));
    }

    private static String word(String[] words, int index) {
        if (index >= words.length) {
            throw new IllegalArgumentException("it ends too early");
        }
        return words[index];
    }
}
