package io.github.lockboot.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;

/**
 * The reply of a store to one request. What a reply says was true when the store answered; the lock may have changed
 * since. So the lease of a reply that grants counts from the time at which its request was sent.
 */
public sealed interface Reply {

    /** A status word without numbers. */
    enum Plain implements Reply {
        /** The hold has ended, and no waiter was granted the lock. */
        RELEASED,
        /** The hold has ended, and waiters were granted the lock. */
        GRANTED_NEXT,
        /** The hold has ended, and the lock stays taken for a time. */
        KEPT,
        /** The id does not hold the lock: it was never granted, its lease has ended, or the request is an old one. */
        NOT_HOLDER,
        /** The message was published. */
        PUBLISHED
    }

    /**
     * The id has the lock: the caller's after {@code acquire}, the next one after {@code release}.
     *
     * @param grantNumber by which the store knows the grant; it only grows
     * @param token the fencing token: that number or, for a reader, the last token of a holder before the readers
     */
    record Granted(long grantNumber, long leaseMillis, long waiters, long token) implements Reply {

        public Granted(long grantNumber, long leaseMillis, long waiters) {
            this(grantNumber, leaseMillis, waiters, grantNumber);
        }
    }

    /** Another has the lock. */
    sealed interface Taken extends Reply permits Queued, Busy {

        /** {@return until the first lease ends, unless it is renewed} */
        long leftMillis();

        /** {@return whose lease that is; null if that is not known} */
        @Nullable
        String holderId();
    }

    /** The id is in the queue, at a position from 1; {@code grantNumber} is the newest of all grants. */
    record Queued(
            long position,
            long grantNumber,
            long leftMillis,
            @Nullable String holderId) implements Taken {

        public Queued(long position, long grantNumber, long leftMillis) {
            this(position, grantNumber, leftMillis, null);
        }
    }

    /** The id is not queued: not requested, the queue is full, or the key is not a lock. */
    record Busy(long leftMillis, @Nullable String holderId) implements Taken {

        public Busy(long leftMillis) {
            this(leftMillis, null);
        }
    }

    /**
     * The lease goes on.
     *
     * @param waiters how many ids are in the queue: then a lock is passed on within its registry only so often
     */
    record Renewed(long leaseMillis, long waiters) implements Reply {}

    /** The reply to a command for several ids: one for each. */
    record All(List<Reply> replies) implements Reply {}

    /** The store refuses to publish; the reason is its own words. */
    record Unpublished(String reason) implements Reply {}

    /**
     * What is stored under the key of a lock.
     *
     * @param leftMillis how long the key will be there: -1 for ever, -2 if there is none
     * @param grantNumber the newest of all grants; 0 if the key is not a lock
     * @param waiters how many ids are in the queue
     * @param holders the holders whose leases run, in the order of their grants
     * @param text as it is stored; empty if there is no key, or it is not a lock
     */
    record Shown(long leftMillis, long grantNumber, long waiters, List<Holder> holders, String text) implements Reply {

        private static final int NUMBERS = 5;

        public static final long NO_KEY = -2;

        /** Whether the key is not one of a lock, or one of a lock in a newer format. It counts as held. */
        public boolean isForeign() {
            return leftMillis != NO_KEY && grantNumber == 0;
        }

        private static Shown parse(String line) {
            String[] words = line.split(" ", NUMBERS + 1);
            List<Holder> holders = new ArrayList<>();
            String rest = words[NUMBERS];
            for (long left = number(words, 4); left > 0; left--) {
                String[] holder = rest.split(" ", Holder.WORDS + 1);
                holders.add(Holder.parse(holder));
                rest = holder[Holder.WORDS];
            }
            return new Shown(number(words, 1), number(words, 2), number(words, 3), holders, rest);
        }
    }

    /**
     * A holder of a lock.
     *
     * @param grantNumber the number of its grant
     * @param untilMillis the end of its lease, by the clock of the store
     * @param permits how many of its kind may hold the lock at a time, if it is limited
     */
    record Holder(String id, long grantNumber, long ttlMillis, long untilMillis, LockKind kind, int permits) {

        private static final int WORDS = 5;

        /** The permits are 0 if it is exclusive, and negative if it is shared. */
        private static Holder parse(String[] words) {
            int permits = (int) number(words, 3);
            LockKind kind = permits == 0 ? LockKind.EXCLUSIVE : permits < 0 ? LockKind.SHARED : LockKind.LIMITED;
            return new Holder(words[4], number(words, 0), number(words, 1), number(words, 2), kind, permits);
        }

        /** {@return the last token that may have been used under its grant; 0 for a reader, who has none of its own} */
        public long lastToken() {
            return kind == LockKind.SHARED ? 0 : grantNumber + kind.tokens() - 1;
        }
    }

    /**
     * @param line a status word and numbers, separated by spaces; text comes last. Of a renewal of several ids, one
     *     such reply for each, separated by commas
     * @throws IllegalStateException if the line has another form
     */
    static Reply parse(String line) {
        boolean renews = line.startsWith("RENEWED") || line.startsWith("NOT_HOLDER");
        if (renews && line.indexOf(',') > 0) {
            return new All(Stream.of(line.split(",")).map(Reply::parse).toList());
        }
        String[] words = line.split(" ", 5);
        try {
            return switch (words[0]) {
                case "GRANTED" ->
                    new Granted(
                            number(words, 1),
                            number(words, 2),
                            number(words, 3),
                            number(words, words.length > 4 ? 4 : 1));
                case "QUEUED" -> new Queued(number(words, 1), number(words, 2), number(words, 3), text(words, 4));
                case "BUSY" -> new Busy(number(words, 1), text(words, 2));
                case "RENEWED" -> new Renewed(number(words, 1), number(words, 2));
                case "SHOWN" -> Shown.parse(line);
                case "UNPUBLISHED" -> new Unpublished(line.substring(words[0].length() + 1));
                default -> Plain.valueOf(words[0]);
            };
        } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException strange) {
            String start = line.substring(0, Math.min(line.length(), 80));
            throw new IllegalStateException(
                    "unknown reply of a lock script: '" + LockNames.printable(start) + "'", strange);
        }
    }

    private static @Nullable String text(String[] words, int index) {
        return index < words.length ? words[index] : null;
    }

    private static long number(String[] words, int index) {
        return Long.parseLong(words[index]);
    }
}
