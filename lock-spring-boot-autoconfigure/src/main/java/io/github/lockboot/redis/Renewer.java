package io.github.lockboot.redis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

/**
 * Keeps the leases of this registry's holds, or reports them lost at their deadlines. It works in the order of what is due
 * next; renewals due at about the same time are sent together, and none waits for the answer to another.
 *
 * <p>A lease is renewed when a third of it has passed, after a failure again every tenth of it, until its deadline.
 */
final class Renewer {

    /** When to look at an acquisition again, in nanoseconds since the renewer began. */
    record Entry(Acquisition acquisition, long due, long tolerance, long sequence) {}

    private static final long NEVER = Long.MAX_VALUE;

    private final LockEngine engine;
    private final long start;
    private final AtomicLong sequence = new AtomicLong();
    private final ConcurrentSkipListSet<Entry> entries =
            new ConcurrentSkipListSet<>(Comparator.comparingLong(Entry::due).thenComparingLong(Entry::sequence));

    private final Object plan = new Object();
    private volatile long nextRound = NEVER;
    private Timer.@Nullable Task round;

    Renewer(LockEngine engine) {
        this.engine = engine;
        this.start = engine.nanoTime();
    }

    /** Begins with an acquisition that owns its lock; its queue's mutex is held. */
    void add(Acquisition owner, Grant grant) {
        if (owner.terms.renew()) {
            enter(owner, grant.renewalDue(), grant.tolerance());
        } else {
            enter(owner, grant.deadline(), 0);
        }
    }

    /** Ends with it; its queue's mutex is held. */
    void remove(Acquisition owner) {
        Entry entry = owner.renewal;
        if (entry != null) {
            owner.renewal = null;
            entries.remove(entry);
        }
    }

    int size() {
        return entries.size();
    }

    private void enter(Acquisition owner, long due, long tolerance) {
        remove(owner);
        Entry entry = new Entry(owner, due - start, tolerance, sequence.incrementAndGet());
        owner.renewal = entry;
        entries.add(entry);
        if (entry.due < nextRound) {
            planRound(entry.due);
        }
    }

    /** A round planned for an entry that has gone since is kept: it costs less than planning anew for every hold. */
    private void planRound(long due) {
        synchronized (plan) {
            if (due < nextRound) {
                if (round != null) {
                    round.cancel();
                }
                nextRound = due;
                round = engine.schedule(due - now(), this::round);
            }
        }
    }

    private void round() {
        synchronized (plan) {
            nextRound = NEVER;
            round = null;
        }
        try {
            renew(takeDue());
        } finally {
            Iterator<Entry> next = entries.iterator();
            if (next.hasNext()) {
                planRound(next.next().due);
            }
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
            first.acquisition.queue().locked(() -> {
                if (first.acquisition.renewal == first && lookAt(first.acquisition)) {
                    toRenew.add(first.acquisition);
                }
            });
        }
    }

    /** @return whether to renew it now */
    private boolean lookAt(Acquisition owner) {
        owner.renewal = null;
        long now = engine.nanoTime();
        Grant grant = owner.grant();
        if (grant.isOver(now)) {
            owner.queue().lost(owner, "its lease ran out");
            return false;
        }
        boolean renew = owner.terms.renew() && owner.queue().keepsLease();
        if (owner.terms.renew() && !renew) {
            watchOf(owner).stuck();
        }
        long retry = now + grant.retryDelay();
        enter(owner, renew && retry - grant.deadline() < 0 ? retry : grant.deadline(), 0);
        return renew;
    }

    /** All are sent before any is answered; Lettuce pipelines them. */
    private void renew(List<Acquisition> due) {
        for (Acquisition owner : due) {
            long sentAt = engine.nanoTime();
            owner.renew()
                    .whenComplete((reply, failure) -> owner.queue().locked(() -> {
                        if (owner.onRenewal(reply, sentAt)) {
                            add(owner, owner.grant());
                            watchOf(owner).renewed();
                        } else if (reply == null) {
                            watchOf(owner).renewalFailed();
                        }
                    }));
        }
    }

    private static Watch watchOf(Acquisition owner) {
        Hold holder = owner.queue().holder();
        return holder != null && holder.acquisition() == owner ? holder.waiter().watch() : Watch.NONE;
    }

    private long now() {
        return engine.nanoTime() - start;
    }
}
