package io.github.lockboot.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.github.lockboot.internal.Unexpected;
import org.jspecify.annotations.Nullable;

/**
 * The waiters of this JVM for one name, in order, and the mutex that guards all of their queue. Waiters that were decided are woken
 * once the mutex is free, because a woken thread takes it at once.
 */
final class Waiters {

    private final ReentrantLock mutex = new ReentrantLock();
    private final Deque<Waiter> inOrder = new ArrayDeque<>(2);
    private final Deque<Waiter> toWake = new ArrayDeque<>(2);
    private final Consumer<Throwable> onThrown;
    private volatile @Nullable Throwable broken;

    /** @param onThrown repairs what was being changed when something was thrown; the mutex is held */
    Waiters(Consumer<Throwable> onThrown) {
        this.onThrown = onThrown;
    }

    // --- the mutex --------------------------------------------------------------------------------------------

    /** Runs the action with the mutex held; reentrant. All other methods are for such actions. */
    <T extends @Nullable Object> T locked(Supplier<T> action) {
        mutex.lock();
        try {
            if (broken != null && mutex.getHoldCount() == 1) {
                repair();
            }
            return action.get();
        } catch (StackOverflowError overflow) {
            broken = overflow; // nothing can be repaired where there is no stack: the next action does it
            throw overflow;
        } catch (Throwable thrown) {
            broken = thrown;
            repair();
            throw thrown;
        } finally {
            unlockAndWake();
        }
    }

    private void repair() {
        Throwable thrown = broken;
        if (thrown != null) {
            try {
                onThrown.accept(thrown);
                broken = null;
            } catch (Throwable again) {
                Unexpected.failure("when the queue of a lock was repaired", again);
            }
        }
    }

    private void unlockAndWake() {
        List<Waiter> awake = List.of();
        try {
            if (!toWake.isEmpty() && mutex.getHoldCount() == 1) {
                awake = List.copyOf(toWake);
                toWake.clear();
            }
        } finally {
            mutex.unlock();
        }
        for (Waiter waiter : awake) {
            try {
                waiter.wake();
            } catch (Throwable thrown) { // it looks by itself
                Unexpected.failure("when a waiter was woken", thrown);
            }
        }
    }

    // --- the line ---------------------------------------------------------------------------------------------

    boolean isEmpty() {
        return inOrder.isEmpty();
    }

    int size() {
        return inOrder.size();
    }

    /** The first one whose caller is there; those before it leave. */
    @Nullable
    Waiter firstPresent() {
        Waiter first = inOrder.peek();
        while (first != null && !first.canUseLock()) {
            leave(first, Waiter.Plain.REFUSED);
            first = inOrder.peek();
        }
        return first;
    }

    void add(Waiter waiter) {
        inOrder.add(waiter);
    }

    /**
     * Puts back one that was granted the lock and could not use it.
     *
     * @param why the outcome if it does not wait any longer
     */
    void putBack(Waiter waiter, Waiter.Failure why) {
        if (waiter.isLastCall() || !waiter.canUseLock()) {
            decide(waiter, why);
        } else {
            waiter.decide(Waiter.Plain.WAITING);
            inOrder.addFirst(waiter);
        }
    }

    void grantFirst(Hold hold) {
        decide(inOrder.remove(), hold);
    }

    void leave(Waiter waiter, Waiter.Outcome outcome) {
        decide(waiter, outcome);
        inOrder.remove(waiter);
    }

    /** Decides one that is not in the line. */
    void decide(Waiter waiter, Waiter.Outcome outcome) {
        waiter.decide(outcome);
        toWake.add(waiter);
    }

    /** It may have been woken in vain. */
    void wakeAgain(Waiter waiter) {
        toWake.add(waiter);
    }

    void decideIf(Predicate<Waiter> which, Waiter.Outcome outcome) {
        inOrder.removeIf(waiter -> {
            boolean decided = which.test(waiter);
            if (decided) {
                decide(waiter, outcome);
            }
            return decided;
        });
    }

    /** Each leaves only once it is decided, so that one whose decision throws is decided by the next call. */
    void failAll(String reason, @Nullable Throwable cause) {
        Waiter.Failure failure = new Waiter.Failure(reason, cause, false);
        for (Waiter first = inOrder.peek(); first != null; first = inOrder.peek()) {
            if (first.isWaiting()) {
                decide(first, failure);
            }
            inOrder.remove();
        }
    }
}
