package io.github.lockboot.internal;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * One or more locks that a thread has. Each thread has a list of them, the newest first: they enter it by {@link #begin} on that
 * thread, and leave it by {@link #end} on any thread. A transaction of the thread is committed only if none was lost.
 *
 * <p>A thread may outlast the application, so it does not keep its list: what is in the list keeps it. What holds, or has lost and
 * not released, is kept by its registry, and code that runs under locks by the thread's stack.
 */
public abstract class HeldByThread {

    private static final ThreadLocal<@Nullable WeakReference<ThreadList>> CURRENT = new ThreadLocal<>();

    private volatile @Nullable ThreadList list;
    private @Nullable HeldByThread newer;
    private @Nullable HeldByThread older;
    private volatile boolean ignored;

    /** An exception for a lock that may have been lost; null if there is none. */
    public abstract @Nullable RuntimeException findLoss(String reason);

    /** Whether its lock was lost, and the thread need not release it any more. */
    protected boolean isGivenUp() {
        return false;
    }

    /** Called when it has entered the list of its thread, or left it. */
    protected void onListed() {}

    public final void begin() {
        ThreadList all = current();
        if (all == null) {
            all = new ThreadList();
            CURRENT.set(new WeakReference<>(all));
        }
        all.enter(this);
    }

    public final void end() {
        ThreadList entered = list;
        if (entered != null) { // else it belongs to no thread
            entered.leave(this);
        }
    }

    /** Whether it is in the list of its thread. */
    protected final boolean isListed() {
        return list != null;
    }

    /** Whether the thread has given it up for good. */
    protected final boolean isIgnored() {
        return ignored;
    }

    private static @Nullable ThreadList current() {
        WeakReference<ThreadList> known = CURRENT.get();
        return known == null ? null : known.get();
    }

    /** {@return the locks of the current thread, the newest first} */
    public static Stream<HeldByThread> all() {
        ThreadList all = current();
        return all == null ? Stream.empty() : all.copy().stream();
    }

    /** An exception for a lock that the current thread may have lost; null if there is none. */
    public static @Nullable RuntimeException findAnyLoss(String reason) {
        return all().filter(each -> !each.ignored)
                .map(each -> each.findLoss(reason))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** What the current thread begins now does not need the locks that it has given up. */
    public static void ignoreThoseGivenUp() {
        all().filter(HeldByThread::isGivenUp).forEach(each -> each.ignored = true);
    }

    /** The locks of one thread, each linked to the next older one. */
    private static final class ThreadList {

        /** How many locks that were given up are remembered at least, in case the thread releases them after all. */
        private static final int REMEMBERED = 64;

        private @Nullable HeldByThread newest;
        private int size;

        /** Twice as many as were left: to look through all of them costs each that enters a fixed number of steps. */
        private int lookedThroughAt = 2 * REMEMBERED;

        void enter(HeldByThread lock) {
            synchronized (this) {
                if (size >= lookedThroughAt) {
                    forgetThoseGivenUp();
                    lookedThroughAt = Math.max(2 * REMEMBERED, 2 * size);
                }
                HeldByThread next = newest;
                if (next != null) {
                    next.newer = lock;
                }
                lock.older = next;
                newest = lock;
                size++;
                lock.list = this;
            }
            lock.onListed();
        }

        void leave(HeldByThread lock) {
            synchronized (this) {
                if (lock.list != this) {
                    return; // another thread was faster
                }
                HeldByThread after = lock.newer;
                HeldByThread before = lock.older;
                if (after == null) {
                    newest = before;
                } else {
                    after.older = before;
                }
                if (before != null) {
                    before.newer = after;
                }
                lock.newer = null;
                lock.older = null;
                lock.list = null;
                size--;
                lookedThroughAt = Math.min(lookedThroughAt, Math.max(2 * REMEMBERED, 2 * size));
            }
            lock.onListed();
        }

        private void forgetThoseGivenUp() {
            int remembered = 0;
            for (HeldByThread each : copy()) {
                if (++remembered > REMEMBERED && each.isGivenUp()) {
                    each.ignored = true;
                    leave(each);
                }
            }
        }

        synchronized List<HeldByThread> copy() {
            List<HeldByThread> all = new ArrayList<>(size);
            for (HeldByThread each = newest; each != null; each = each.older) {
                all.add(each);
            }
            return all;
        }
    }
}
