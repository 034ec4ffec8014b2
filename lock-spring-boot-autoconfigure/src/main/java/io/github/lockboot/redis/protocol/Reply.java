package io.github.lockboot.redis.protocol;

import java.util.List;
import java.util.stream.Stream;

import io.github.lockboot.internal.LockNames;

/** The reply of a script. */
public sealed interface Reply {

    /** A status word without numbers. */
    enum Plain implements Reply {
        RELEASED,
        HANDED_OVER,
        NOT_OWNER,
        LEFT,
        GIVEN_AWAY,
        UNKNOWN,
        COMPLETED,
        FREE,
        FOREIGN,
        PUBLISHED,
        SKIPPED
    }

    /**
     * The id owns the lock: the caller's after {@code acquire}, the next one after {@code unlock}.
     *
     * @param fence by which Redis knows the grant; it only grows
     * @param token the fencing token: the fence, but for a reader the last one of those who held the lock before the readers
     */
    record Owner(long fence, long leaseMillis, long waiters, long token) implements Reply {

        public Owner(long fence, long leaseMillis, long waiters) {
            this(fence, leaseMillis, waiters, fence);
        }
    }

    /** The id is in the queue, at a position from 1; {@code fence} is the newest of all grants. */
    record Queued(long position, long fence, long leftMillis) implements Reply {}

    /** The id is not queued: not requested, the queue is full, or the key is not a lock. */
    record Busy(long leftMillis) implements Reply {}

    record Renewed(long leaseMillis, long waiters) implements Reply {}

    /** One reply for each lock. */
    record All(List<Reply> replies) implements Reply {}

    record Held(long fence, long leftMillis, String owner) implements Reply {}

    /**
     * @param line a status word and numbers, separated by spaces; text comes last
     * @throws IllegalStateException if the line has another form
     */
    static Reply parse(String line) {
        if (line.startsWith("ALL ")) {
            return new All(
                    Stream.of(line.substring(4).split(",")).map(Reply::parse).toList());
        }
        String[] words = line.split(" ", line.startsWith("HELD ") ? 4 : 5);
        try {
            return switch (words[0]) {
                case "OWNER" ->
                    new Owner(
                            number(words, 1),
                            number(words, 2),
                            number(words, 3),
                            number(words, words.length > 4 ? 4 : 1));
                case "QUEUED" -> new Queued(number(words, 1), number(words, 2), number(words, 3));
                case "BUSY" -> new Busy(number(words, 1));
                case "RENEWED" -> new Renewed(number(words, 1), number(words, 2));
                case "HELD" -> new Held(number(words, 1), number(words, 2), words[3]);
                default -> Plain.valueOf(words[0]);
            };
        } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException strange) {
            String start = line.substring(0, Math.min(line.length(), 80));
            throw new IllegalStateException(
                    "unknown reply of a lock script: '" + LockNames.printable(start) + "'", strange);
        }
    }

    private static long number(String[] words, int index) {
        return Long.parseLong(words[index]);
    }
}
