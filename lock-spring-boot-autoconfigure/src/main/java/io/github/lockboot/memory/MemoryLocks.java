package io.github.lockboot.memory;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * What registries have in common that stand for instances of one application: the names in use, the tokens and the time. All
 * of it is guarded by one mutex, under which nothing blocks and no code of users runs.
 */
final class MemoryLocks {

    private static final Log log = LogFactory.getLog(MemoryLockRegistry.class);

    /** Years enough, and no overflow. */
    private static final long LONGEST_SKIP = Lifetime.NEVER / 16;

    private final ReentrantLock mutex = new ReentrantLock();
    private final Map<String, Slot> slots = new HashMap<>();
    private final Map<Loser, MemoryHold> losses = new HashMap<>();
    private final Executor workers = workers("lock-memory");
    private final long start = System.nanoTime();
    private volatile long skipped;
    /** Begins at the wall clock, so that tokens grow over restarts too; time itself is monotonic. */
    private long newestToken = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());

    /** Who has lost a hold and has not been told by all its unlocks. */
    private record Loser(MemoryLockRegistry registry, String name, Thread thread) {}

    // --- names ------------------------------------------------------------------------------------------------

    /** Does something with the slot of a name, after and before what is due there. */
    <T extends @Nullable Object> T inOrder(String name, Function<Slot, T> action) {
        mutex.lock();
        try {
            Slot slot = slots.computeIfAbsent(name, n -> new Slot(this, n));
            slot.settle();
            try {
                return action.apply(slot);
            } finally {
                settle(slot);
            }
        } finally {
            mutex.unlock();
        }
    }

    void lookAt(String name) {
        inOrder(name, slot -> {
            slot.resetAlarm();
            return null;
        });
    }

    void failAll(MemoryLockRegistry registry, String reason) {
        mutex.lock();
        try {
            slots.values().forEach(slot -> slot.fail(registry, reason));
            settleAll();
        } finally {
            mutex.unlock();
        }
    }

    /** Names in use. */
    int inUse() {
        mutex.lock();
        try {
            return slots.size();
        } finally {
            mutex.unlock();
        }
    }

    private void settle(Slot slot) {
        slot.settle();
        if (slot.isIdle()) {
            slots.remove(slot.name(), slot);
        }
    }

    private void settleAll() {
        List.copyOf(slots.values()).forEach(this::settle);
    }

    // --- losses -----------------------------------------------------------------------------------------------

    void remember(MemoryHold lost) {
        log.warn("The hold with fencing token " + lost.fencingToken() + " was lost");
        Request request = lost.request();
        Thread thread = request.thread();
        if (thread != null) {
            losses.keySet().removeIf(loser -> !loser.thread.isAlive());
            losses.put(new Loser(request.registry(), request.name(), thread), lost);
        }
    }

    @Nullable
    MemoryHold lostBy(MemoryLockRegistry registry, String name, Thread thread) {
        return losses.get(new Loser(registry, name, thread));
    }

    void forget(MemoryHold lost) {
        Request request = lost.request();
        losses.remove(new Loser(request.registry(), request.name(), Objects.requireNonNull(request.thread())), lost);
    }

    // --- tokens, time and threads -----------------------------------------------------------------------------

    long nextToken() {
        return ++newestToken;
    }

    /** Nanoseconds since the beginning, with those that were skipped. May be read without the mutex. */
    long now() {
        return System.nanoTime() - start + skipped;
    }

    /** Skips time, halting wherever something is due. */
    void skip(long nanos) {
        mutex.lock();
        try {
            long target = now() + Math.min(nanos, LONGEST_SKIP);
            long halt;
            do {
                long due =
                        slots.values().stream().mapToLong(Slot::nextDue).min().orElse(Lifetime.NEVER);
                halt = Math.min(due, target);
                skipped += Math.max(0, halt - now());
                settleAll();
            } while (halt < target);
            slots.values().forEach(Slot::resetAlarm);
            settleAll();
        } finally {
            mutex.unlock();
        }
    }

    Executor workers() {
        return workers;
    }

    /** Has a worker run what users want to be done. */
    void callBack(Runnable callback) {
        workers.execute(() -> {
            try {
                callback.run();
            } catch (RuntimeException | Error failure) {
                log.warn("A callback for a lost lock failed", failure);
            }
        });
    }

    private static Executor workers(String name) {
        return new ThreadPoolExecutor(0, Integer.MAX_VALUE, 1, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        });
    }
}
