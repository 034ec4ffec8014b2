package io.github.lockboot.internal;

import java.lang.ref.WeakReference;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * One or more locks that a thread has. Each thread has a list of them, the newest first: they enter it by
 * {@link #begin} on that thread, and leave it by {@link #end} on any thread. A transaction of the thread is committed
 * only if none was lost.
 *
 * <p>A thread may outlast the application, so it does not keep its list: what is in the list keeps it. What holds, or
 * has lost and not released, is kept by its registry, and code that runs under locks by the thread's stack.
 */
public abstract class HeldByThread {

    private static final ThreadLocal<@Nullable WeakReference<ThreadList>> CURRENT = new ThreadLocal<>();

    private volatile @Nullable ThreadList list;
    private volatile boolean ignored;

    /** Its place in the list; guarded by that. */
    private long number;

    /** An exception for a lock that may have been lost; null if there is none. */
    public abstract @Nullable RuntimeException findLoss(String reason);

    /** Whether others are known to wait for its lock; null if its thread does not hold exactly one lock by it, once. */
    public @Nullable Boolean othersWait() {
        return null;
    }

    /** The lock, while it is held; null if it is not, or not one lock. */
    protected LockOrder.@Nullable Node node() {
        return null;
    }

    /** Whether its lock was lost, and the thread need not release it any more. */
    protected boolean isGivenUp() {
        return false;
    }

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

    /** {@return whether the current thread has any} */
    public static boolean any() {
        ThreadList all = current();
        return all != null && !all.isEmpty();
    }

    /** {@return the locks of the current thread, the newest first} */
    public static Stream<HeldByThread> all() {
        return newest(Integer.MAX_VALUE);
    }

    /** {@return so many of the locks of the current thread, the newest first} The cost is theirs alone. */
    static Stream<HeldByThread> newest(int count) {
        ThreadList all = current();
        return all == null ? Stream.empty() : all.newestFirst(count).stream();
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

    /** The locks of one thread, by number, because a lock may be released long after newer ones, on another thread. */
    private static final class ThreadList {

        /** How many locks that were given up are remembered at least, in case the thread releases them after all. */
        private static final int REMEMBERED = 64;

        private final Map<Long, HeldByThread> newestFirst = new TreeMap<>(Comparator.reverseOrder());

        private long entered;

        /**
         * The size at which those given up are forgotten: twice the size left the last time, so that each entry has a
         * fixed cost.
         */
        private int fullAt = 2 * REMEMBERED;

        synchronized void enter(HeldByThread lock) {
            if (lock.list == this) {
                return;
            }
            if (newestFirst.size() >= fullAt) {
                forgetThoseGivenUp();
                fullAt = Math.max(2 * REMEMBERED, 2 * newestFirst.size());
            }
            lock.number = ++entered;
            newestFirst.put(lock.number, lock);
            lock.list = this;
        }

        synchronized void leave(HeldByThread lock) {
            if (newestFirst.remove(lock.number, lock)) { // else another thread was faster
                lock.list = null;
                fullAt = Math.min(fullAt, Math.max(2 * REMEMBERED, 2 * newestFirst.size()));
            }
        }

        private void forgetThoseGivenUp() {
            int remembered = 0;
            for (HeldByThread each : newestFirst(Integer.MAX_VALUE)) {
                if (++remembered > REMEMBERED && each.isGivenUp()) {
                    each.ignored = true;
                    leave(each);
                }
            }
        }

        synchronized boolean isEmpty() {
            return newestFirst.isEmpty();
        }

        synchronized List<HeldByThread> newestFirst(int count) {
            return newestFirst.values().stream().limit(count).toList();
        }
    }
}
