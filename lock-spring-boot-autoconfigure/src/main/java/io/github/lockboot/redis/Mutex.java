package io.github.lockboot.redis;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The mutex of a queue. Waiters that are decided under it are told once it is free: what they do next takes it again, and would
 * find it held by the one who woke them.
 */
final class Mutex {

    private static final Log log = LogFactory.getLog(Mutex.class);

    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<Waiter> toTell = new ArrayDeque<>(2);

    /** Does it with the mutex held; reentrant. */
    <T extends @Nullable Object> T locked(Supplier<T> action) {
        lock.lock();
        Waiter first = null;
        List<Waiter> others = List.of();
        try {
            return action.get();
        } catch (RuntimeException | Error unexpected) {
            log.error("A lock's queue is in disorder; please report this", unexpected);
            throw unexpected;
        } finally {
            if (lock.getHoldCount() == 1) {
                first = toTell.poll();
                if (!toTell.isEmpty()) {
                    others = List.copyOf(toTell);
                    toTell.clear();
                }
            }
            lock.unlock();
            if (first != null) {
                first.tell();
                others.forEach(Waiter::tell);
            }
        }
    }

    /** The waiter has been decided; the mutex is held. */
    void tellLater(Waiter decided) {
        toTell.add(decided);
    }
}
