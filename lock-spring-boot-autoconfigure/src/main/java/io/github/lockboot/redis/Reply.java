package io.github.lockboot.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;

/** What a script answered. */
sealed interface Reply {

    /** The lock is the caller's: by {@code acquire}, or kept for its next id by {@code unlock}. */
    record Owner(long fence, long leaseMillis, long waiters) implements Reply {}

    /** The id is in the queue, counted from 1; {@code fence} is the newest token given so far. */
    record Queued(long position, long fence, long leftMillis) implements Reply {}

    /** Another's, and the id is not queued: not asked to, no room, or a stranger's key. */
    record Busy(long leftMillis) implements Reply {}

    record Released() implements Reply {}

    record HandedOver() implements Reply {}

    record NotOwner() implements Reply {}

    record Renewed(long leaseMillis, long waiters) implements Reply {}

    record Left() implements Reply {}

    record GivenAway() implements Reply {}

    record Unknown() implements Reply {}

    record Free() implements Reply {}

    record Foreign() implements Reply {}

    record Held(String owner, long fence, long leftMillis) implements Reply {}

    static Reply parse(List<?> reply) {
        String status = text(reply.get(0));
        return switch (status) {
            case "OWNER", "KEPT" -> new Owner(number(reply, 1), number(reply, 2), number(reply, 3));
            case "QUEUED" -> new Queued(number(reply, 1), number(reply, 2), number(reply, 3));
            case "BUSY" -> new Busy(number(reply, 1));
            case "RELEASED" -> new Released();
            case "HANDED_OVER" -> new HandedOver();
            case "NOT_OWNER" -> new NotOwner();
            case "RENEWED" -> new Renewed(number(reply, 1), number(reply, 2));
            case "LEFT" -> new Left();
            case "GIVEN_AWAY" -> new GivenAway();
            case "UNKNOWN" -> new Unknown();
            case "FREE" -> new Free();
            case "FOREIGN" -> new Foreign();
            case "HELD" -> new Held(text(reply.get(1)), number(reply, 2), number(reply, 3));
            default -> throw new IllegalStateException("a lock script answered " + reply);
        };
    }

    private static long number(List<?> reply, int index) {
        return ((Number) reply.get(index)).longValue();
    }

    private static String text(Object word) {
        return word instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : word.toString();
    }
}
