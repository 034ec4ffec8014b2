package io.github.lockboot.redis.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/** Those of this JVM who wait for one name, in order. Used under the mutex, which wakes those that were decided once it is free. */
final class Waiters {

    private final QueueLock mutex;
    private final Deque<Waiter> inOrder = new ArrayDeque<>(2);

    Waiters(QueueLock mutex) {
        this.mutex = mutex;
    }

    boolean isEmpty() {
        return inOrder.isEmpty();
    }

    int size() {
        return inOrder.size();
    }

    /** Who is next; those that are gone are passed over. */
    @Nullable
    Waiter first() {
        Waiter first = inOrder.peek();
        while (first != null && !first.isThere()) {
            leave(first, Waiter.Plain.REFUSED);
            first = inOrder.peek();
        }
        return first;
    }

    void add(Waiter waiter) {
        inOrder.add(waiter);
    }

    /** Puts back one that had been granted the lock and could not use it. */
    void putBack(Waiter waiter) {
        if (waiter.isLastCall() || !waiter.isThere()) {
            decide(waiter, Waiter.Plain.REFUSED);
        } else {
            inOrder.addFirst(waiter.waitAgain());
        }
    }

    void grantFirst(Hold hold) {
        decide(inOrder.remove(), hold);
    }

    /** Decides one that is not among those who wait. */
    void decide(Waiter waiter, Waiter.Outcome outcome) {
        waiter.decide(outcome);
        mutex.wakeLater(waiter::wake);
    }

    void leave(Waiter waiter, Waiter.Outcome outcome) {
        decide(waiter, outcome);
        inOrder.remove(waiter);
    }

    void decideIf(Predicate<Waiter> which, Waiter.Outcome outcome) {
        inOrder.removeIf(waiter -> {
            boolean settled = which.test(waiter);
            if (settled) {
                decide(waiter, outcome);
            }
            return settled;
        });
    }

    /** Each is out of the line only once it has been decided, so that one whose deciding throws is decided by the next try. */
    void failAll(String reason, @Nullable Throwable cause) {
        Waiter.Failure failure = new Waiter.Failure(reason, cause);
        for (Waiter first = inOrder.peek(); first != null; first = inOrder.peek()) {
            if (first.isWaiting()) {
                decide(first, failure);
            }
            inOrder.remove();
        }
    }
}
