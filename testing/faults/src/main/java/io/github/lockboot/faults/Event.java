package io.github.lockboot.faults;

import io.github.lockboot.harness.Contender.Client;

/**
 * A line of an event log: what happened to one who wants or holds a lock. Times are {@link System#nanoTime()}, which
 * the processes of one Linux host share.
 *
 * @param time when; of a grant, after the lock was got; of a release or an answer, before it was begun
 * @param actor who: process and thread
 * @param hold what belongs together from request to end, unique among all logs
 * @param limit how many such holds there may be at a time: 1 for an exclusive one, {@link Client#UNLIMITED} for a
 *     reader's, or the number of permits; those of other limits exclude it
 * @param token the fencing token, 0 where there is none
 * @param validUntil until when the actor believes its lease to last, as of this event; 0 where it does not hold or is
 *     not told
 */
record Event(long time, String actor, Kind kind, String lock, String hold, int limit, long token, long validUntil) {

    enum Kind {
        REQUEST,
        GRANTED,
        /** It goes on with the hold of another, who has handed it over: the token is the same. */
        TAKEN_OVER,
        FAILED,
        HELD,
        NOT_HELD,
        /**
         * What it wrote or looked at under the lock was refused for its old token; permits may have theirs in any
         * order.
         */
        REFUSED,
        RELEASING,
        /** As RELEASING, but the lock is left to whoever takes it over. */
        HANDING_OVER,
        RELEASED,
        RELEASE_FAILED,
        LOST,
        /**
         * Redis said whose it is: {@code token} is that of the owner's grant, the newest of several, or 0 if nobody
         * owns it; asked at {@code time}, told at {@code validUntil}.
         */
        SERVER,
        /** A thread has done what it was told. */
        DONE
    }

    boolean is(Kind kind) {
        return this.kind == kind;
    }

    /** Whether a hold begins with it. */
    boolean begins() {
        return kind == Kind.GRANTED || kind == Kind.TAKEN_OVER;
    }

    /** Whether its actor gives up the hold, whatever comes of that. */
    boolean ends() {
        return kind == Kind.RELEASING || kind == Kind.HANDING_OVER;
    }

    String toLine() {
        return "event " + time + " " + actor + " " + kind + " " + lock + " " + hold + " " + limit + " " + token + " "
                + validUntil;
    }

    /** Whether a line of output is one of a log. */
    static boolean isLine(String line) {
        return line.startsWith("event ") && line.split(" ").length == 9;
    }

    static Event parse(String line) {
        String[] words = line.split(" ");
        return new Event(
                Long.parseLong(words[1]),
                words[2],
                Kind.valueOf(words[3]),
                words[4],
                words[5],
                Integer.parseInt(words[6]),
                Long.parseLong(words[7]),
                Long.parseLong(words[8]));
    }
}
