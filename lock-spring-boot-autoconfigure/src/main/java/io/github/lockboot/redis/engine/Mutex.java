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
 * The mutex of a queue. Waiters that are decided under it are told once it is free: what they do next takes it again, and would
 * find it held by the one who woke them. To be told is a hint: who waits looks by itself, too.
 */
final class Mutex {

    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<Waiter> toTell = new ArrayDeque<>(2);
    private final Consumer<Throwable> onThrown;
    private volatile @Nullable Throwable unsettled;

    /** @param onThrown puts in order what was being changed when something was thrown; the mutex is held */
    Mutex(Consumer<Throwable> onThrown) {
        this.onThrown = onThrown;
    }

    /** Does it with the mutex held; reentrant. */
    <T extends @Nullable Object> T locked(Supplier<T> action) {
        Waiter decided = null;
        List<Waiter> more = List.of();
        lock.lock();
        try {
            try {
                return action.get();
            } catch (StackOverflowError overflow) {
                unsettled = overflow; // nothing can be put in order where there is no stack
                throw overflow;
            } catch (Throwable thrown) {
                unsettled = thrown;
                settle();
                throw thrown;
            } finally {
                if (lock.getHoldCount() == 1 && !toTell.isEmpty()) {
                    if (toTell.size() == 1) {
                        decided = toTell.remove();
                    } else {
                        more = List.copyOf(toTell);
                        toTell.clear();
                    }
                }
            }
        } finally {
            lock.unlock();
            if (decided != null) {
                tell(decided);
            }
            more.forEach(Mutex::tell);
        }
    }

    /** Puts in order what was cut short by something that was thrown, if anything was; later, if this is cut short too. */
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

    /** Is looked at now and then. */
    void lookAfter() {
        if (unsettled != null) {
            locked(() -> {
                settle();
                return null;
            });
        }
    }

    private static void tell(Waiter decided) {
        try {
            decided.tell();
        } catch (Throwable thrown) {
            Unexpected.failure("when a waiter was told", thrown);
        }
    }

    /** The waiter has been decided; the mutex is held. */
    void tellLater(Waiter decided) {
        toTell.add(decided);
    }
}
