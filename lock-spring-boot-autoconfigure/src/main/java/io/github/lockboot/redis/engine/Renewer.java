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
    private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

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
                Timer.Task planned = engine.schedule(due - now(), this::round);
                if (round != null) {
                    round.cancel();
                }
                round = planned;
                nextRound = due;
            }
        }
    }

    /** Is looked at on the timer's thread now and then: a round that was due before and did not come never will. */
    void lookAfter() {
        if (nextRound != NEVER && now() - nextRound > LATE_NANOS) {
            round();
        } else if (nextRound == NEVER) {
            planNext();
        }
    }

    /** Renews a lease that is in doubt, whenever it would have been due. */
    void renewSoon(Acquisition owner) {
        owner.queue().onEvent(() -> {
            Entry planned = owner.renewal;
            boolean soon =
                    planned != null && planned.due - now() <= owner.grant().retryDelay();
            if (owner.isOwned() && owner.terms.renew() && owner.queue().keepsLease() && !soon) {
                enter(owner, engine.nanoTime(), 0);
            }
        });
    }

    private void round() {
        synchronized (plan) {
            nextRound = NEVER;
            round = null;
        }
        try {
            renew(takeDue());
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
            first.acquisition.queue().onEvent(() -> {
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
            owner.queue().lost(owner, LocalQueue.RAN_OUT);
            return false;
        }
        boolean renew = owner.terms.renew() && owner.queue().keepsLease();
        long retry = now + grant.retryDelay();
        enter(owner, renew && retry - grant.deadline() < 0 ? retry : grant.deadline(), 0);
        Hold holder = holderOf(owner);
        if (holder != null && owner.terms.renew() && holder.isOverdue()) {
            holder.waiter().watch().stuck();
        }
        return renew;
    }

    /** All are sent before any is answered; Lettuce pipelines them. */
    private void renew(List<Acquisition> due) {
        for (Acquisition owner : due) {
            try {
                renew(owner);
            } catch (Throwable thrown) { // it is due again soon
                Unexpected.failure("when a lease was renewed", thrown);
            }
        }
    }

    private void renew(Acquisition owner) {
        Moment sentAt = engine.now();
        owner.renew()
                .whenComplete((reply, failure) -> owner.queue().onEvent(() -> {
                    if (owner.onRenewal(reply, sentAt)) {
                        add(owner, owner.grant());
                        watchOf(owner).renewed();
                    } else if (reply == null) {
                        watchOf(owner).renewalFailed();
                    }
                }));
    }

    private static @Nullable Hold holderOf(Acquisition owner) {
        Hold holder = owner.queue().holder();
        return holder != null && holder.acquisition() == owner ? holder : null;
    }

    private static Watch watchOf(Acquisition owner) {
        Hold holder = holderOf(owner);
        return holder == null ? Watch.NONE : holder.waiter().watch();
    }

    private long now() {
        return engine.nanoTime() - start;
    }
}
