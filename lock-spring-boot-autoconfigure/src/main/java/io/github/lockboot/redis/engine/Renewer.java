package io.github.lockboot.redis.engine;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockboot.internal.Timer;
import io.github.lockboot.internal.Unexpected;
import io.github.lockboot.redis.engine.LockRequest.Terms;
import io.github.lockboot.redis.protocol.LockStore;
import org.jspecify.annotations.Nullable;

/**
 * Has the leases of this registry's holds renewed, and reports those that run out at their deadlines. It works in the order of what
 * is due next; renewals due at about the same time are sent together, and none waits for the answer to another.
 *
 * <p>A lease is due when a third of it has passed, after a failure again every tenth of it, until its deadline. If the store announces
 * changes, it is also due a second after the grant, because the store watches a lock from its first renewal on, and when a change is
 * announced:
 *
 * <pre>
 *            a second later: renewed               a change is announced
 *   GRANTED -------------------------▶ WATCHED ◀──────────────────────────▶ DOUBTED
 *                                               renewed at once, or after
 *                                               a pause that has grown
 * </pre>
 *
 * Only the answer to a renewal that was sent after the change ends the doubt. Others also change a lock by waiting for it, and readers by
 * each renewal. So each renewal in doubt makes the pause until the next one longer: for an exclusive lock up to the interval in which a
 * waiter asks, for others up to a third of the lease, until a renewal finds the lock unchanged. A holder then asks no more often than a
 * waiter, however many others there are. One that is not watched, or is in doubt, and has no answer asks that often, too.
 */
final class Renewer {

    /** The place of one lease among those that are due. Changed with the mutex of the lease held. */
    static final class Slot {

        private final Acquisition lease;
        private @Nullable Entry entry;

        /** Whether the lease is left to end, because no holder had it renewed. */
        private boolean leftToEnd;

        /** How many renewals have been sent, and which one was answered. */
        private volatile int sent;

        private int answered;

        /** The last renewal that was sent before a change was announced. */
        private int doubtedAfter = -1;

        private long renewedAt;

        /** How long after a renewal the next one in doubt may be sent. */
        private long pause;

        Slot(Acquisition lease) {
            this.lease = lease;
        }

        /** The number of the newest renewal. May be read without the mutex. */
        int sent() {
            return sent;
        }

        private boolean isDoubted() {
            return doubtedAfter >= answered;
        }
    }

    /** When to look at a lease again, in nanoseconds since the renewer began. */
    private record Entry(Slot slot, long due, long tolerance, long sequence) {}

    private static final long NEVER = Long.MAX_VALUE;
    private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long UNWATCHED_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final EngineContext context;
    private final LockStore store;
    private final long start;
    private final AtomicLong sequence = new AtomicLong();
    private final ConcurrentSkipListSet<Entry> entries =
            new ConcurrentSkipListSet<>(Comparator.comparingLong(Entry::due).thenComparingLong(Entry::sequence));

    private final Object plan = new Object();
    private volatile long nextRound = NEVER;
    private Timer.@Nullable Task round;

    Renewer(EngineContext context, LockStore store) {
        this.context = context;
        this.store = store;
        this.start = context.nanoTime();
    }

    /** Begins with a lease that was granted or renewed; its mutex is held. */
    void begin(Slot slot) {
        Grant grant = slot.lease.grant();
        slot.leftToEnd = false;
        if (!slot.lease.terms.renew()) {
            enter(slot, grant.deadline(), 0);
            return;
        }
        long due = grant.renewalDue();
        long earlier = slot.isDoubted()
                ? start + inDoubtDue(slot)
                : isUnwatched(slot) ? context.nanoTime() + UNWATCHED_NANOS : due;
        if (earlier - due < 0) {
            enter(slot, earlier, Math.min(grant.tolerance(), UNWATCHED_NANOS / 10));
        } else {
            enter(slot, due, grant.tolerance());
        }
    }

    /** As {@link #begin}; what was announced before that renewal was sent is answered. */
    void beginAnswered(Slot slot, int renewal) {
        slot.answered = Math.max(slot.answered, renewal);
        begin(slot);
    }

    private boolean isUnwatched(Slot slot) {
        return slot.answered == 0 && store.client().announcesChanges();
    }

    private long inDoubtDue(Slot slot) {
        return Math.max(now(), slot.renewedAt + slot.pause);
    }

    /** As {@link #begin}, if the lease is left to end: it has a new holder. */
    void beginAgain(Slot slot) {
        if (slot.leftToEnd) {
            begin(slot);
        }
    }

    /** As {@link #begin}, unless the lease will be looked at. */
    void beginIfForgotten(Slot slot) {
        if (!isPlanned(slot)) {
            begin(slot);
        }
    }

    /** Ends with it; its mutex is held. */
    void end(Slot slot) {
        Entry entry = slot.entry;
        if (entry != null) {
            slot.entry = null;
            entries.remove(entry);
        }
    }

    int size() {
        return entries.size();
    }

    /** Whether the lease will be looked at. */
    boolean isPlanned(Slot slot) {
        Entry entry = slot.entry;
        return entry != null && entries.contains(entry);
    }

    private void enter(Slot slot, long due, long tolerance) {
        end(slot);
        Entry entry = new Entry(slot, due - start, tolerance, sequence.incrementAndGet());
        slot.entry = entry;
        entries.add(entry);
        if (entry.due < nextRound) {
            planRound(entry.due);
        }
    }

    /** A round planned for an entry that has gone since is kept: to plan again for every hold would cost more. */
    private void planRound(long due) {
        synchronized (plan) {
            if (due < nextRound) {
                Timer.Task planned = context.schedule(due - now(), this::round);
                if (round != null) {
                    round.cancel();
                }
                round = planned;
                nextRound = due;
            }
        }
    }

    /** Called on the timer's thread now and then: a round that was due before and did not come, or was not planned, never will. */
    void lookAfter() {
        if (nextRound != NEVER && now() - nextRound > LATE_NANOS) {
            round();
        } else {
            planNext();
        }
    }

    /** Renews a lease that is in doubt, whenever it would have been due. */
    void renewSoon(Slot slot) {
        slot.lease.onEvent(() -> {
            Entry planned = slot.entry;
            boolean soon = planned != null && planned.due - now() <= soon(slot.lease.grant());
            if (!soon && slot.lease.shouldRenew()) {
                slot.doubtedAfter = slot.sent;
                enter(slot, context.nanoTime(), 0);
            }
        });
    }

    /** The lock has perhaps been changed by another; the mutex is held. */
    void changed(Slot slot) {
        Entry planned = slot.entry;
        if (slot.sent > 0 && planned != null && !slot.leftToEnd) {
            slot.doubtedAfter = slot.sent;
            long due = inDoubtDue(slot);
            if (due < planned.due) {
                enter(slot, start + due, 0);
            }
        }
    }

    private void round() {
        synchronized (plan) {
            nextRound = NEVER;
            round = null;
        }
        try {
            // All are sent before any is answered; a client may pipeline them. One that throws is due again soon.
            takeDue().forEach(lease -> Unexpected.attempt("when a lease was renewed", lease::renew));
        } finally {
            planNext();
        }
    }

    private void planNext() {
        Iterator<Entry> next = entries.iterator();
        if (next.hasNext()) {
            planRound(next.next().due);
        }
    }

    private List<Acquisition> takeDue() {
        List<Acquisition> toRenew = new ArrayList<>();
        long now = now();
        while (true) {
            Iterator<Entry> inOrder = entries.iterator();
            Entry first = inOrder.hasNext() ? inOrder.next() : null;
            if (first == null || first.due - first.tolerance > now) {
                return toRenew;
            }
            entries.remove(first);
            Slot slot = first.slot;
            slot.lease.onEvent(() -> {
                if (slot.entry == first && renewOrEnd(slot)) {
                    toRenew.add(slot.lease);
                }
            });
        }
    }

    /** Plans the next look at the lease, unless it has run out. {@return whether to renew it now} */
    private boolean renewOrEnd(Slot slot) {
        slot.entry = null;
        long now = context.nanoTime();
        Grant grant = slot.lease.grant();
        if (grant.isOver(now)) {
            slot.lease.ranOut();
            return false;
        }
        boolean renew = slot.lease.shouldRenew();
        slot.leftToEnd = !renew;
        long retry = slot.isDoubted() || isUnwatched(slot) ? soon(grant) : grant.retryDelay();
        if (renew) {
            if (!slot.isDoubted()) {
                slot.pause = 0;
            } else if (slot.doubtedAfter == slot.sent) {
                slot.pause = Math.min(2 * slot.pause + UNWATCHED_NANOS, longestPause(slot.lease.terms));
            }
            slot.sent++;
            slot.renewedAt = now - start;
        }
        enter(slot, renew && now + retry - grant.deadline() < 0 ? now + retry : grant.deadline(), 0);
        return renew;
    }

    private long soon(Grant grant) {
        return Math.min(grant.retryDelay(), context.retryInterval());
    }

    private long longestPause(Terms terms) {
        return terms.isExclusive() ? context.retryInterval() : TimeUnit.MILLISECONDS.toNanos(terms.ttlMillis()) / 3;
    }

    private long now() {
        return context.nanoTime() - start;
    }
}
