package io.github.lockboot.engine;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockboot.engine.Grant.LeaseState;
import io.github.lockboot.engine.Grant.Moment;
import io.github.lockboot.internal.Failures;
import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/**
 * Renews the leases of this registry's holds, and reports those that run out at their deadlines. At most one renewal of
 * a lease is under way.
 *
 * <pre>
 *            due, or its turn in the line        answered; refused or not sent
 *   RESTING ──────────────────────────────▶ ASKED ─────────────────────────────▶ RESTING; EXTRA
 *    EXTRA                                 IN_TURN                                  ▲
 *                                           ▲   │ no answer in time                 │
 *           a third of the lease has passed │   ▼                                   │
 *           or the connection is another    SILENT ─────────────────────────────────┘
 *                                                  the answer comes late, and counts
 * </pre>
 *
 * EXTRA: no renewal is under way, and the next one is an extra one. IN_TURN: as ASKED, and counted among the extra ones
 * under way.
 *
 * <p>A lease is due when a third of it has passed since it was granted, renewed, or asked for in vain. Renewals that
 * are due at about the same time are sent together, and none waits for the answer to another. All permits of one lock
 * are renewed by one command.
 *
 * <p>Two reasons make an extra renewal: the last one was refused or could not be sent, or the lock has perhaps been
 * changed by another. After a cut, a flush or a step of the clock this may concern all leases of all instances at once,
 * when the store has the least to spare. So extra renewals stand in a line, the oldest deadline first, and at most
 * {@value #MOST_EXTRA} of them are under way. Each answer lets the next one go: the line moves as fast as the store
 * answers, and hardly while it does not. A lease leaves the line when it is due anyway. What is sent outside the line
 * is one renewal in a third of each lease, so nothing that happens makes it more than that.
 *
 * <p>A store that announces changes watches an exclusive or shared lock from its first renewal on, which is therefore
 * due a second after the grant. Only the answer to a renewal that was sent after a change shows whether the lock is
 * lost. Others also change a lock by waiting for it, and readers by each renewal. So a change makes an extra renewal at
 * once, but not again before a pause has passed: the interval in which a waiter asks for an exclusive lock, a third of
 * the lease for a shared one.
 */
@SuppressWarnings("ReferenceEquality") // entries and moments are known by identity
final class Renewer {

    private enum State {
        RESTING,
        EXTRA,
        ASKED,
        IN_TURN,
        SILENT
    }

    /** What is known of changes of the lock by others. */
    private enum Evidence {
        /** The store does not watch the lock: no renewal has been answered. */
        UNWATCHED,
        /** The answer to the newest renewal that counts is newer than all announced changes. */
        CERTAIN,
        /** The lock has perhaps been changed since the newest renewal was sent. */
        CHANGED,
        /** It had been when the newest renewal was sent, and no answer has shown what of it is true. */
        CHECKED
    }

    /**
     * The newest renewal.
     *
     * @param epoch of the client
     * @param pausesUntil until then a change makes no extra renewal
     */
    private record Asked(Moment at, long epoch, long pausesUntil) {}

    /**
     * Where a lease is entered.
     *
     * @param due among those that are due by time
     * @param inLine its place in the line; null if it does not wait for its turn there
     */
    private record Planned(Entry due, @Nullable Entry inLine) {

        boolean has(Entry entry) {
            return due == entry || inLine == entry;
        }
    }

    /** The place of one lease among those that are due. Changed with the mutex of the lease held. */
    static final class Slot {

        private final Acquisition lease;
        private State state = State.RESTING;
        private Evidence evidence = Evidence.UNWATCHED;
        private @Nullable Planned planned;
        private @Nullable Asked asked;

        Slot(Acquisition lease) {
            this.lease = lease;
        }

        /** When the newest renewal was sent. */
        Moment askedAt() {
            return Objects.requireNonNull(asked).at;
        }

        private boolean isResting() {
            return state == State.RESTING || state == State.EXTRA;
        }

        /** Whether this is the moment of the newest renewal. */
        private boolean wasAskedAt(Moment moment) {
            return asked != null && asked.at == moment;
        }

        private long pausesUntil() {
            return asked == null ? Long.MIN_VALUE : asked.pausesUntil;
        }
    }

    /**
     * Where a lease stands: by the time of the next look at it, or in the line by its deadline. In nanoseconds since
     * the renewer began.
     */
    private record Entry(Slot slot, long at, long tolerance, long sequence) {

        static final Comparator<Entry> IN_ORDER =
                Comparator.comparingLong(Entry::at).thenComparingLong(Entry::sequence);
    }

    /** Enough to keep the store busy, and too few to make others wait. */
    static final int MOST_EXTRA = 64;

    private static final long NEVER = Long.MAX_VALUE;
    private static final long UNWATCHED_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final EngineContext context;
    private final LockStore store;
    private final long start;
    private final AtomicLong sequence = new AtomicLong();
    private final ConcurrentSkipListSet<Entry> entries = new ConcurrentSkipListSet<>(Entry.IN_ORDER);
    private final ConcurrentSkipListSet<Entry> line = new ConcurrentSkipListSet<>(Entry.IN_ORDER);
    private final AtomicInteger extraUnderWay = new AtomicInteger();

    private final Object plan = new Object();
    private volatile long nextRound = NEVER;
    private Timer.@Nullable Task round;

    Renewer(EngineContext context, LockStore store) {
        this.context = context;
        this.store = store;
        this.start = context.nanoTime();
    }

    // --- what becomes of a lease: its mutex is held -----------------------------------------------------------

    /** Begins with a lease that was granted, or whose queue begins anew. */
    void begin(Slot slot) {
        rest(slot);
    }

    /** Another holder has the lease: if it was left to end because nobody needed it, it is due. */
    void needed(Slot slot) {
        boolean leftToEnd = slot.isResting() && slot.planned != null && slot.planned.due.at > due(slot);
        if (leftToEnd && slot.lease.terms.renew()) {
            rest(slot);
        }
    }

    /** The renewal that was sent then has been answered: the grant is prolonged. */
    void renewed(Slot slot, Moment askedAt) {
        boolean newest = slot.wasAskedAt(askedAt);
        if (newest && slot.evidence != Evidence.CHANGED) {
            slot.evidence = Evidence.CERTAIN;
        }
        if (newest || slot.isResting()) {
            rest(slot);
        }
    }

    /**
     * The renewal that was sent then has failed.
     *
     * @param silently whether it may still be answered
     */
    void failed(Slot slot, Moment askedAt, boolean silently) {
        if (slot.wasAskedAt(askedAt) && (slot.state == State.ASKED || slot.state == State.IN_TURN)) {
            become(slot, silently ? State.SILENT : State.EXTRA);
            repeat(slot);
        }
    }

    /** Another has perhaps changed the lock. */
    void changed(Slot slot) {
        if (slot.asked != null && slot.evidence != Evidence.CHANGED && isWatchable(slot)) {
            slot.evidence = Evidence.CHANGED;
            if (slot.isResting()) {
                rest(slot);
            }
        }
    }

    /** The lease has run out by the time of day, and its holder no longer relies on it. */
    void ranOutByTimeOfDay(Slot slot) {
        Planned planned = slot.planned;
        boolean comesSoon = planned != null && (planned.inLine != null || planned.due.at - now() <= soon(slot));
        if (slot.isResting() && !comesSoon && slot.lease.shouldRenew()) {
            slot.evidence = Evidence.CHANGED;
            Asked asked = slot.asked;
            slot.asked = asked == null ? null : new Asked(asked.at, asked.epoch, now());
            rest(slot);
        }
    }

    /** Ends with it. */
    void end(Slot slot) {
        become(slot, State.RESTING);
        remove(slot);
    }

    private void become(Slot slot, State state) {
        boolean answered = slot.state == State.IN_TURN;
        slot.state = state;
        if (answered) {
            if (extraUnderWay.decrementAndGet() < MOST_EXTRA && !line.isEmpty()) {
                planRound(now());
            }
        }
    }

    /** Plans the next renewal. */
    private void rest(Slot slot) {
        become(slot, State.RESTING);
        long due = due(slot);
        long tolerance = slot.lease.grant().tolerance();
        if (!slot.lease.terms.renew()) {
            enter(slot, NEVER, 0);
        } else if (slot.evidence == Evidence.CHANGED && Math.max(now(), slot.pausesUntil()) < due) {
            become(slot, State.EXTRA);
            enter(slot, Math.max(now(), slot.pausesUntil()), 0);
        } else if (isUnwatched(slot) && now() + UNWATCHED_NANOS < due) {
            enter(slot, now() + UNWATCHED_NANOS, Math.min(tolerance, UNWATCHED_NANOS / 10));
        } else {
            enter(slot, due, tolerance);
        }
    }

    /** Plans to repeat the renewal. */
    private void repeat(Slot slot) {
        enter(slot, Math.min(now() + retryDelay(slot), due(slot)), 0);
    }

    private long due(Slot slot) {
        Grant grant = slot.lease.grant();
        Asked asked = slot.asked;
        long due = grant.renewalDue() - start;
        return asked == null ? due : Math.max(due, asked.at.nanos() + grant.third() - start);
    }

    /** The lease of a lock that may be lost is asked for as often as a waiter asks. */
    private long retryDelay(Slot slot) {
        boolean mayBeLost = slot.evidence == Evidence.CHANGED || slot.evidence == Evidence.CHECKED;
        return mayBeLost || isUnwatched(slot) ? soon(slot) : slot.lease.grant().retryDelay();
    }

    private long soon(Slot slot) {
        return Math.min(slot.lease.grant().retryDelay(), context.retryInterval());
    }

    private long pause(Slot slot) {
        return slot.lease.terms.kind() == LockKind.EXCLUSIVE
                ? context.retryInterval()
                : slot.lease.grant().third();
    }

    /** Not a permit, which each other holder changes with all that it does. */
    private boolean isWatchable(Slot slot) {
        return slot.lease.terms.kind() != LockKind.LIMITED && store.client().announcesChanges();
    }

    private boolean isUnwatched(Slot slot) {
        return slot.evidence == Evidence.UNWATCHED && isWatchable(slot);
    }

    // --- the plan ---------------------------------------------------------------------------------------------

    int size() {
        return entries.size();
    }

    private void remove(Slot slot) {
        Planned planned = slot.planned;
        slot.planned = null;
        if (planned != null) {
            entries.remove(planned.due);
        }
        if (planned != null && planned.inLine != null) {
            line.remove(planned.inLine);
        }
    }

    /** It is checked then, or at its deadline. */
    private Entry enter(Slot slot, long at, long tolerance) {
        remove(slot);
        Entry entry = new Entry(slot, Math.min(at, deadline(slot)), tolerance, sequence.incrementAndGet());
        slot.planned = new Planned(entry, null);
        entries.add(entry);
        if (entry.at < nextRound) {
            planRound(entry.at);
        }
        return entry;
    }

    private void joinLine(Slot slot) {
        Entry due = enter(slot, due(slot), 0);
        Entry place = new Entry(slot, deadline(slot), 0, sequence.incrementAndGet());
        slot.planned = new Planned(due, place);
        line.add(place);
    }

    private long deadline(Slot slot) {
        return slot.lease.grant().deadline() - start;
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

    private void planNext() {
        Entry next = first(entries);
        if (next != null) {
            planRound(next.at);
        }
        if (mayMoveOn()) {
            planRound(now());
        }
    }

    private boolean mayMoveOn() {
        return extraUnderWay.get() < MOST_EXTRA && !line.isEmpty();
    }

    private static @Nullable Entry first(ConcurrentSkipListSet<Entry> inOrder) {
        Iterator<Entry> each =
                inOrder.iterator(); // unlike first(), which throws if another thread has removed the last one
        return each.hasNext() ? each.next() : null;
    }

    // --- a round ----------------------------------------------------------------------------------------------

    private void round() {
        synchronized (plan) {
            nextRound = NEVER;
            round = null;
        }
        try {
            // All are sent before any is answered; a client may pipeline them. One that throws is due again soon.
            takeDue()
                    .forEach(leases -> Failures.runAndLog("when a lease was renewed", () -> Acquisition.renew(leases)));
        } finally {
            planNext();
        }
    }

    /** {@return the leases to be renewed, those of one command together} */
    private List<List<Acquisition>> takeDue() {
        List<List<Acquisition>> toRenew = new ArrayList<>();
        long now = now();
        for (Entry next = first(entries); next != null && next.at - next.tolerance <= now; next = first(entries)) {
            take(next, entries, toRenew);
        }
        while (mayMoveOn()) {
            Entry next = first(line);
            if (next != null) {
                take(next, line, toRenew);
            }
        }
        return toRenew;
    }

    private void take(Entry taken, ConcurrentSkipListSet<Entry> from, List<List<Acquisition>> toRenew) {
        from.remove(taken);
        Slot slot = taken.slot;
        slot.lease.onEvent(() -> {
            Planned planned = slot.planned;
            List<Acquisition> leases =
                    planned != null && planned.has(taken) ? check(slot, taken == planned.inLine) : List.of();
            if (!leases.isEmpty()) {
                toRenew.add(leases);
            }
        });
    }

    /** Plans the next check of the lease, unless it has run out. {@return what to renew now, by one command} */
    private List<Acquisition> check(Slot slot, boolean itsTurn) {
        Grant grant = slot.lease.grant();
        if (grant.leaseAt(context.now()) == LeaseState.OVER) {
            remove(slot);
            slot.lease.ranOut();
            return List.of();
        }
        boolean extra = slot.state == State.EXTRA || slot.state == State.SILENT;
        if (!slot.lease.shouldRenew()) {
            enter(slot, now() + grant.retryDelay(), 0); // another holder may come before it ends
        } else if (slot.state == State.SILENT && !mayAskAgain(slot)) {
            enter(slot, Math.min(now() + grant.retryDelay(), due(slot)), 0);
        } else if (extra && !itsTurn && now() < due(slot)) {
            joinLine(slot);
        } else {
            return ask(slot, itsTurn);
        }
        return List.of();
    }

    /** Whether the lease may be renewed now, with another. */
    boolean mayAsk(Slot slot) {
        return slot.isResting() || slot.state == State.SILENT && mayAskAgain(slot);
    }

    /** The store answers a copy on the same connection no sooner. */
    private boolean mayAskAgain(Slot slot) {
        return store.client().mayHaveRepeatedSince(Objects.requireNonNull(slot.asked).epoch) || now() >= due(slot);
    }

    private List<Acquisition> ask(Slot slot, boolean itsTurn) {
        List<Acquisition> leases = slot.lease.renewedTogether();
        Moment askedAt = context.now();
        leases.forEach(lease -> asked(lease.renewal(), askedAt));
        if (itsTurn) {
            slot.state = State.IN_TURN;
            extraUnderWay.incrementAndGet();
        }
        return leases;
    }

    private void asked(Slot slot, Moment askedAt) {
        become(slot, State.ASKED);
        boolean changed = slot.evidence == Evidence.CHANGED || slot.evidence == Evidence.CHECKED;
        slot.evidence = changed ? Evidence.CHECKED : slot.evidence;
        long pausesUntil = changed ? now() + pause(slot) : slot.pausesUntil();
        slot.asked = new Asked(askedAt, store.client().epoch(), pausesUntil);
        // By then it is answered or has failed, unless that was lost with something that was thrown.
        enter(slot, now() + Math.max(slot.lease.grant().third(), 2 * context.commandTimeout()), 0);
    }

    private long now() {
        return context.nanoTime() - start;
    }
}
