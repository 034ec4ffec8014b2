package io.github.lockboot.redis.faults;

/**
 * A line of an event log: what happened to one who wants or holds a lock. Times are {@link System#nanoTime()}, which the processes of
 * one Linux host share.
 *
 * @param time when; of a grant, after the lock was got; of a release, before it was begun
 * @param actor who: process and thread
 * @param hold what belongs together from request to end, unique among all logs
 * @param token the fencing token, 0 where there is none
 * @param validUntil until when the actor believes its lease to last, as of this event; 0 where it does not hold
 */
record Event(long time, String actor, Kind kind, String lock, String hold, long token, long validUntil) {

    enum Kind {
        REQUEST,
        GRANTED,
        FAILED,
        HELD,
        NOT_HELD,
        RELEASING,
        RELEASED,
        RELEASE_FAILED,
        LOST,
        DONE
    }

    boolean is(Kind kind) {
        return this.kind == kind;
    }

    String toLine() {
        return "event " + time + " " + actor + " " + kind + " " + lock + " " + hold + " " + token + " " + validUntil;
    }

    /** Whether a line of output is one of a log. */
    static boolean isLine(String line) {
        return line.startsWith("event ");
    }

    static Event parse(String line) {
        String[] words = line.split(" ");
        return new Event(
                Long.parseLong(words[1]),
                words[2],
                Kind.valueOf(words[3]),
                words[4],
                words[5],
                Long.parseLong(words[6]),
                Long.parseLong(words[7]));
    }
}
