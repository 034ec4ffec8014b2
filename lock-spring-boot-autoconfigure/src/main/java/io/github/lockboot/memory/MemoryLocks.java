package io.github.lockboot.memory;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.internal.Timer;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The locks that several registries share: the names in use, the tokens and the time. All of it is guarded by one mutex, under
 * which nothing blocks and no code of users runs.
 */
final class MemoryLocks {

    private static final Log log = LogFactory.getLog(MemoryLocks.class);

    /** Centuries, but far from overflow. */
    private static final long LONGEST_SKIP = Hold.NEVER / 16;

    private final ReentrantLock mutex = new ReentrantLock();
    private final Map<String, Slot> slots = new HashMap<>();
    private final Map<Loser, Hold> losses = new HashMap<>();
    private final Executor workers =
            new ThreadPoolExecutor(0, Integer.MAX_VALUE, 1, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                Thread thread = new Thread(task, "lock-memory");
                thread.setDaemon(true);
                return thread;
            });
    private final Timer timer = Timer.system("lock-memory-timer");
    private final long start = timer.nanoTime();
    private volatile long skipped;

    /** Starts at the wall clock, so that tokens grow over restarts, too. */
    private long newestToken = TimeUnit.MILLISECONDS.toMicros(timer.wallMillis());

    /** A thread that has lost a hold and has not yet released it as often as it acquired it. */
    private record Loser(Object registry, String name, Thread thread) {}

    Executor workers() {
        return workers;
    }

    // --- names ------------------------------------------------------------------------------------------------

    /** Runs an action with the slot of a name, and does before and afterwards what is due there. */
    <T extends @Nullable Object> T inOrder(String name, Function<Slot, T> action) {
        mutex.lock();
        try {
            Slot slot = slots.computeIfAbsent(name, n -> new Slot(n, () -> ++newestToken));
            settle(slot);
            try {
                return action.apply(slot);
            } finally {
                settle(slot);
                removeIfIdle(slot);
            }
        } finally {
            mutex.unlock();
        }
    }

    /** Ends leases and waits whose time is over, and grants the lock if it is free. */
    private void settle(Slot slot) {
        long now = now();
        String reason = slot.whyLost(now);
        if (reason != null) {
            lose(slot, reason);
        }
        slot.grantToFirst(now);
        slot.answer(
                request -> request.deadline() <= now,
                request -> request.answer()
                        .completeExceptionally(
                                new LockNotAcquiredException(request.name(), Duration.ofNanos(now - request.start()))));
        setAlarm(slot, slot.nextLook(now));
    }

    private void removeIfIdle(Slot slot) {
        if (slot.isIdle()) {
            slots.remove(slot.name, slot);
        }
    }

    private void settleAll() {
        for (Slot slot : List.copyOf(slots.values())) {
            settle(slot);
            removeIfIdle(slot);
        }
    }

    private void setAlarm(Slot slot, long time) {
        if (time == slot.alarmTime) {
            return;
        }
        slot.alarm.cancel();
        slot.alarmTime = time;
        if (time != Hold.NEVER) {
            slot.alarm = timer.schedule(time - now(), () -> inOrder(slot.name, this::resetAlarm));
        }
    }

    private Slot resetAlarm(Slot slot) {
        setAlarm(slot, Hold.NEVER);
        return slot;
    }

    /** The number of names in use. */
    int inUse() {
        mutex.lock();
        try {
            return slots.size();
        } finally {
            mutex.unlock();
        }
    }

    // --- requests ---------------------------------------------------------------------------------------------

    /** Takes a request out of its slot; false if it has been answered. */
    boolean abandon(Request request) {
        boolean abandoned = inOrder(request.name(), slot -> slot.remove(request));
        if (abandoned) {
            request.use().abandoned();
        }
        return abandoned;
    }

    /** Notifies listeners of the answer to a request. */
    void report(Request request, @Nullable Hold hold, @Nullable Throwable failure) {
        if (hold != null) {
            request.use().acquired(null, hold.token, hold.origin, () -> remaining(hold));
        } else if (failure == null) {
            request.use().followed();
        } else if (failure instanceof LockNotAcquiredException) {
            request.use().notAcquired();
        } else {
            request.use().unavailable();
        }
    }

    /** Ends the waits of a registry. */
    void failAll(Object registry, String reason) {
        mutex.lock();
        try {
            slots.values()
                    .forEach(slot -> slot.answer(
                            request -> request.registry() == registry,
                            request -> request.answer()
                                    .completeExceptionally(
                                            new LockUnavailableException(request.name(), reason, null))));
            settleAll();
        } finally {
            mutex.unlock();
        }
    }

    // --- holds ------------------------------------------------------------------------------------------------

    Duration remaining(Hold hold) {
        return inOrder(hold.request.name(), slot -> hold.remaining(now()));
    }

    boolean isValid(Hold hold) {
        return inOrder(hold.request.name(), slot -> hold.isValid());
    }

    void onLost(Hold hold, Runnable callback) {
        inOrder(hold.request.name(), slot -> {
            if (hold.isLost()) {
                callBack(callback);
            } else if (hold.isValid()) {
                hold.onLost(callback);
            }
            return true;
        });
    }

    /**
     * Gives up a hold once; the last time releases the lock.
     *
     * @param which the hold, determined under the mutex
     * @param completes whether the release also ends the waits that follow it
     */
    void exit(String name, boolean completes, Function<Slot, Hold> which) {
        Hold released = inOrder(name, slot -> {
            Hold hold = which.apply(slot);
            boolean last = hold.exit();
            if (hold.isLost() && last) {
                losses.values().remove(hold);
            }
            hold.requireIntact();
            if (!last) {
                return null;
            }
            slot.vacate();
            if (completes) {
                slot.answer(Request::follows, request -> request.answer().complete(null));
            }
            return hold;
        });
        if (released != null) {
            released.request.use().released(true);
        }
    }

    /** Has the present hold lost. Called under the mutex. */
    void lose(Slot slot, String reason) {
        Hold lost = slot.vacate();
        if (lost == null) {
            return;
        }
        log.warn("The hold with fencing token " + lost.token + " was lost");
        Request request = lost.request;
        request.use().lost(reason);
        lost.lose(reason).forEach(this::callBack);
        Thread thread = request.thread();
        if (thread != null) {
            losses.keySet().removeIf(loser -> !loser.thread.isAlive());
            losses.put(new Loser(request.registry(), request.name(), thread), lost);
        }
    }

    /** The hold that a thread has lost and not yet given up. Called under the mutex. */
    @Nullable
    Hold lostBy(Object registry, String name, Thread thread) {
        return losses.get(new Loser(registry, name, thread));
    }

    private void callBack(Runnable callback) {
        workers.execute(() -> {
            try {
                callback.run();
            } catch (RuntimeException | Error failure) {
                log.warn("A callback for a lost lock failed", failure);
            }
        });
    }

    // --- time -------------------------------------------------------------------------------------------------

    /** Nanoseconds since the beginning, skipped ones included. May be called without the mutex. */
    long now() {
        return timer.nanoTime() - start + skipped;
    }

    /** Skips time, and stops wherever something is due. */
    void skip(long nanos) {
        mutex.lock();
        try {
            long target = now() + Math.min(nanos, LONGEST_SKIP);
            long halt;
            do {
                long due =
                        slots.values().stream().mapToLong(Slot::nextDue).min().orElse(Hold.NEVER);
                halt = Math.min(due, target);
                skipped += Math.max(0, halt - now());
                settleAll();
            } while (halt < target);
            slots.values().forEach(this::resetAlarm);
            settleAll();
        } finally {
            mutex.unlock();
        }
    }
}
