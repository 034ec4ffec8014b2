package io.github.lockboot.engine;

import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/**
 * When the names of a registry want to be called next, on one task of the timer; and the line of extra renewals.
 *
 * <p>A renewal is extra if the last one was refused or could not be sent, or if another has perhaps changed the lock.
 * After a cut, a flush or a step of the clock this may concern all leases of all instances at once, when the store has
 * the least to spare. So extra renewals stand in a line, the oldest deadline first, and at most {@value #MOST_EXTRA} of
 * them are under way. Each answer lets the next one go: the line moves as fast as the store answers. A lease leaves the
 * line when its renewal is due by time. So outside the line, at most one renewal is sent in a third of each lease.
 */
final class Agenda {

    /** High enough to use the store, low enough not to delay others. */
    static final int MOST_EXTRA = 64;

    /** Is called when the time of its appointment, or its turn in the line, has come. Does not throw. */
    interface Called {
        void call(Entry entry);
    }

    /**
     * An appointment, or a place in the line.
     *
     * @param at in nanoseconds since the agenda began; in the line, the deadline
     */
    record Entry(Called called, long at, long sequence) {}

    private static final Comparator<Entry> IN_ORDER =
            Comparator.comparingLong(Entry::at).thenComparingLong(Entry::sequence);

    private final EngineContext context;
    private final long start;
    private final AtomicLong sequence = new AtomicLong();
    private final ConcurrentSkipListSet<Entry> appointments = new ConcurrentSkipListSet<>(IN_ORDER);
    private final ConcurrentSkipListSet<Entry> line = new ConcurrentSkipListSet<>(IN_ORDER);
    private final AtomicInteger extraUnderWay = new AtomicInteger();

    private final Object plan = new Object();
    private volatile long nextRound = LeaseTime.NEVER;
    private Timer.@Nullable Task round;

    Agenda(EngineContext context) {
        this.context = context;
        this.start = context.nanoTime();
    }

    /**
     * Calls then, or earlier. An earlier appointment stays, because to plan anew for every hold would cost more than a
     * call that has nothing to do.
     *
     * @return the appointment
     */
    Entry appoint(Called called, @Nullable Entry known, long time) {
        long at = time - start;
        if (known != null && known.at <= at) {
            return known;
        }
        cancel(known);
        Entry entry = new Entry(called, at, sequence.incrementAndGet());
        appointments.add(entry);
        planRound(at);
        return entry;
    }

    void cancel(@Nullable Entry appointment) {
        if (appointment != null) {
            appointments.remove(appointment);
        }
    }

    /** {@return a place in the line} */
    Entry join(Called called, long deadline) {
        Entry place = new Entry(called, deadline - start, sequence.incrementAndGet());
        line.add(place);
        planRound(now());
        return place;
    }

    void leave(@Nullable Entry place) {
        if (place != null) {
            line.remove(place);
        }
    }

    /** Ends a turn: the next one may begin. */
    void endTurn() {
        extraUnderWay.decrementAndGet();
        planNext();
    }

    private boolean mayMoveOn() {
        return extraUnderWay.get() < MOST_EXTRA && !line.isEmpty();
    }

    /** A round planned for an entry that has gone since is kept: to plan again for every hold would cost more. */
    private void planRound(long due) {
        if (due >= nextRound) {
            return;
        }
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

    /** Called once a second, too: something that is thrown may keep a round from being planned. */
    void planNext() {
        Entry next = first();
        if (next != null) {
            planRound(next.at);
        }
        if (mayMoveOn()) {
            planRound(now());
        }
    }

    private void round() {
        synchronized (plan) {
            nextRound = LeaseTime.NEVER;
            round = null;
        }
        try {
            long now = now();
            // A copy: what is appointed meanwhile belongs to the next round.
            for (Entry due : List.copyOf(appointments.headSet(new Entry(none -> {}, now, Long.MAX_VALUE)))) {
                if (appointments.remove(due)) {
                    due.called.call(due);
                }
            }
            while (mayMoveOn()) {
                Entry first = line.pollFirst();
                if (first != null) {
                    extraUnderWay.incrementAndGet();
                    first.called.call(first);
                }
            }
        } finally {
            planNext();
        }
    }

    /** Unlike the method of the set, does not throw if another thread removes the last one. */
    private @Nullable Entry first() {
        Iterator<Entry> each = appointments.iterator();
        return each.hasNext() ? each.next() : null;
    }

    private long now() {
        return context.nanoTime() - start;
    }
}
