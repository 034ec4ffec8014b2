package io.github.lockboot.redis.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.lockboot.internal.Unexpected;
import org.jspecify.annotations.Nullable;

/**
 * The mutex of a queue. Wake-ups that are requested while it is held run once it is released, because a woken thread acquires it at
 * once. A wake-up is a hint: waiters also look by themselves.
 */
final class QueueLock {

    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<Runnable> wakeUps = new ArrayDeque<>(2);
    private final Consumer<Throwable> onThrown;
    private volatile @Nullable Throwable unsettled;

    /** @param onThrown puts in order what was being changed when something was thrown; the mutex is held */
    QueueLock(Consumer<Throwable> onThrown) {
        this.onThrown = onThrown;
    }

    /** Does it with the mutex held; reentrant. */
    <T extends @Nullable Object> T locked(Supplier<T> action) {
        Runnable one = null;
        List<Runnable> more = List.of();
        lock.lock();
        try {
            try {
                if (unsettled != null && lock.getHoldCount() == 1) {
                    settle();
                }
                return action.get();
            } catch (StackOverflowError overflow) {
                unsettled = overflow; // nothing can be put in order where there is no stack
                throw overflow;
            } catch (Throwable thrown) {
                unsettled = thrown;
                settle();
                throw thrown;
            } finally {
                if (lock.getHoldCount() == 1 && !wakeUps.isEmpty()) {
                    if (wakeUps.size() == 1) {
                        one = wakeUps.remove();
                    } else {
                        more = List.copyOf(wakeUps);
                        wakeUps.clear();
                    }
                }
            }
        } finally {
            lock.unlock();
            if (one != null) {
                EngineContext.attempt("when a waiter was woken", one);
            }
            more.forEach(wakeUp -> EngineContext.attempt("when a waiter was woken", wakeUp));
        }
    }

    private void settle() {
        Throwable thrown = unsettled;
        if (thrown != null) {
            try {
                onThrown.accept(thrown);
                unsettled = null;
            } catch (Throwable again) {
                Unexpected.failure("when a lock's queue was put in order", again);
            }
        }
    }

    /** Has it run once the mutex is free; the mutex is held. */
    void wakeLater(Runnable wakeUp) {
        wakeUps.add(wakeUp);
    }
}
