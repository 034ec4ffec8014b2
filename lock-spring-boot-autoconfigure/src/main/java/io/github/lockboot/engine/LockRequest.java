package io.github.lockboot.engine;

import java.time.Duration;
import java.util.Objects;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockOptions;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.LockOrder;
import org.jspecify.annotations.Nullable;

/**
 * What a caller asks for.
 *
 * @param name of the lock
 * @param group what listeners and metrics know it by
 * @param terms on which it is held
 * @param waitNanos how long to wait: 0 or less asks once, {@link #WITHOUT_LIMIT} waits for as long as it takes
 * @param maxHoldNanos after which the hold is no longer renewed; 0 for never
 * @param awaitsRelease whether the release waits for the answer of the store
 * @param attempt whether the caller asks again if the lock is refused, so that a refusal is not reported
 * @param maxWaiting how many callers of this registry may wait, with this one; {@link #ANY_NUMBER} for no limit
 */
public record LockRequest(
        String name,
        @Nullable String group,
        Terms terms,
        long waitNanos,
        long maxHoldNanos,
        boolean awaitsRelease,
        boolean attempt,
        int maxWaiting) {

    public static final int ANY_NUMBER = Integer.MAX_VALUE;

    /** A wait that only the lock, a failure or the caller ends. */
    public static final long WITHOUT_LIMIT = Long.MAX_VALUE;

    /** Waits that are longer count as this long: the difference cannot be seen. */
    private static final long LONGEST_NANOS = Long.MAX_VALUE / 4;

    private static final Duration LONGEST = Duration.ofNanos(LONGEST_NANOS);
    private static final Duration SHORTEST = LONGEST.negated(); // once, because it uses a BigDecimal

    /**
     * The terms on which an acquisition id has the lock, fixed for its life. A request on other terms needs another id.
     *
     * @param permits how many of this kind may hold the lock at a time
     * @param lingerNanos how long the lock stays here without a hold. The ttl of a lock that lingers is short, so a
     *     dead registry delays the others no longer than a dead waiter
     */
    public record Terms(LockKind kind, int permits, long ttlMillis, boolean renew, long lingerNanos) {

        public static Terms exclusive(long ttlMillis, boolean renew) {
            return new Terms(LockKind.EXCLUSIVE, 1, ttlMillis, renew, 0);
        }

        public static Terms shared(long ttlMillis, boolean renew) {
            return new Terms(LockKind.SHARED, Integer.MAX_VALUE, ttlMillis, renew, 0);
        }

        public static Terms limited(int permits, long ttlMillis, boolean renew) {
            return new Terms(LockKind.LIMITED, permits, ttlMillis, renew, 0);
        }

        Terms lingering(long nanos) {
            long longest = nanos > 0 ? LockStore.CLAIM_LEASE_MILLIS : ttlMillis;
            return new Terms(kind, permits, Math.min(ttlMillis, longest), renew, nanos);
        }
    }

    /**
     * A hold on its way from one process to another. In the store it belongs to an id that no engine uses, until
     * another process takes it over.
     *
     * @param name of the lock
     * @param kind in which it is held
     * @param id that has it in the meantime
     * @param grantNumber of its grant, which stays the same
     * @param token its fencing token, which stays the same
     */
    record Transfer(String name, LockKind kind, String id, long grantNumber, long token) {

        /** Begins each such id: a session that no engine has, so that no message reaches one. */
        private static final String ID_PREFIX = "transfer-";

        private static final String FORMAT = "1";
        private static final int WORDS = 6;

        /**
         * {@return the id of such a hold} It names the kind, so the store knows no id of a text in which the kind was
         * changed.
         */
        static String idOf(LockKind kind, String acquisitionId) {
            return ID_PREFIX + kind + "-" + acquisitionId;
        }

        /**
         * {@return a text on which this and later versions agree} The number at its beginning is that of the format.
         */
        String text() {
            return String.join(" ", FORMAT, kind.name(), id, Long.toString(grantNumber), Long.toString(token), name);
        }

        /** @throws IllegalArgumentException if it is not the text of a transfer */
        static Transfer parse(String text) {
            String[] words = text.split(" ", WORDS);
            try {
                if (words.length == WORDS && words[0].equals(FORMAT)) {
                    LockKind kind = LockKind.valueOf(words[1]);
                    long grantNumber = Long.parseLong(words[3]);
                    long token = Long.parseLong(words[4]);
                    if (words[2].startsWith(idOf(kind, ""))
                            && grantNumber > 0
                            && token >= grantNumber
                            && token - grantNumber < kind.tokens()) {
                        return new Transfer(LockNames.valid(words[5]), kind, words[2], grantNumber, token);
                    }
                }
            } catch (IllegalArgumentException another) {
                // as below
            }
            String start = LockNames.printable(text.substring(0, Math.min(text.length(), 80)));
            throw new IllegalArgumentException("'" + start + "' is not a text that Lease.handOver() has returned");
        }
    }

    /** @param options complete ones */
    public static LockRequest of(String name, LockOptions options) {
        Duration maxHold = options.maxHold();
        Integer maxWaiting = options.maxWaiting();
        return new LockRequest(
                name,
                options.group(),
                termsOf(options),
                nanosOf(Objects.requireNonNull(options.waitTime())),
                maxHold == null ? 0 : nanosOf(maxHold),
                options.release() != DistributedLock.Release.SEND,
                false,
                maxWaiting == null ? ANY_NUMBER : maxWaiting);
    }

    private static Terms termsOf(LockOptions options) {
        long ttlMillis = Objects.requireNonNull(options.ttl()).toMillis();
        boolean renew = Objects.requireNonNull(options.renew());
        Duration linger = options.linger();
        Integer permits = options.permits();
        if (options.mode() == DistributedLock.Mode.SHARED) {
            return Terms.shared(ttlMillis, renew);
        }
        if (permits != null) {
            return Terms.limited(permits, ttlMillis, renew);
        }
        Terms terms = Terms.exclusive(ttlMillis, renew);
        return linger == null ? terms : terms.lingering(nanosOf(linger));
    }

    LockOrder.Node node() {
        return new LockOrder.Node(group, name, terms.kind() == LockKind.EXCLUSIVE);
    }

    LockRequest named(String other) {
        return with(other, waitNanos, false);
    }

    public LockRequest waiting(long nanos) {
        return with(name, nanos, false);
    }

    /** Asks once, for a caller that asks again. */
    LockRequest attempted() {
        return with(name, 0, true);
    }

    private LockRequest with(String name, long waitNanos, boolean attempt) {
        return new LockRequest(name, group, terms, waitNanos, maxHoldNanos, awaitsRelease, attempt, maxWaiting);
    }

    boolean triesOnce() {
        return waitNanos <= 0;
    }

    boolean waitsForever() {
        return waitNanos == WITHOUT_LIMIT;
    }

    /** The duration, or the longest that can be counted with. */
    public static long nanosOf(Duration duration) {
        if (duration.compareTo(LONGEST) > 0) {
            return LONGEST_NANOS;
        }
        return duration.compareTo(SHORTEST) < 0 ? -LONGEST_NANOS : duration.toNanos();
    }
}
