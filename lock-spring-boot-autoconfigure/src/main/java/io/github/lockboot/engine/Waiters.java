package io.github.lockboot.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * The waiters of this JVM for one name, in order, and the mutex that guards all of their queue. Waiters that were decided are woken
 * once the mutex is free, because a woken thread takes it at once.
 */
final class Waiters {

    private final ReentrantLock mutex = new ReentrantLock();
    private final Deque<Waiter> inOrder = new ArrayDeque<>(2);
    /** A thread that is woken at once would only find the mutex taken. */
    private final Deque<Waiter> toWake = new ArrayDeque<>(2);

    private final Consumer<Throwable> beginAnew;

    /** What an action has thrown, until the queue has begun anew. */
    private volatile @Nullable Throwable thrown;

    /** @param beginAnew called with the mutex held after an action has thrown in the middle of a change */
    Waiters(Consumer<Throwable> beginAnew) {
        this.beginAnew = beginAnew;
    }

    // --- the mutex --------------------------------------------------------------------------------------------

    /**
     * Runs the action with the mutex held; reentrant. All other methods are for such actions. If it throws, the queue begins anew before
     * the mutex is free, or, if that throws as well, before the next action.
     */
    <T extends @Nullable Object> T locked(Supplier<T> action) {
        mutex.lock();
        try {
            beginAnewIfThrown();
            return action.get();
        } catch (Throwable failure) {
            thrown = failure;
            throw failure;
        } finally {
            unlock();
        }
    }

    /** Whether an action has thrown, and the queue could not begin anew. Called without the mutex. */
    boolean hasThrown() {
        return thrown != null;
    }

    private void beginAnewIfThrown() {
        Throwable failure = thrown;
        if (failure != null && mutex.getHoldCount() == 1) {
            beginAnew.accept(failure);
            thrown = null;
        }
    }

    private void unlock() {
        List<Waiter> awake = List.of();
        try {
            beginAnewIfThrown();
            if (!toWake.isEmpty() && mutex.getHoldCount() == 1) {
                awake = List.copyOf(toWake);
                toWake.clear();
            }
        } finally {
            mutex.unlock();
        }
        awake.forEach(Waiter::wake);
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
