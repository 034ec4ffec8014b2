package io.github.lockboot.redis.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/** Those of this JVM who wait for one name, in order. Used under the mutex, which tells them how they were decided. */
final class Waiters {

    private final Mutex mutex;
    private final Deque<Waiter> inOrder = new ArrayDeque<>(2);

    Waiters(Mutex mutex) {
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
            leave(first);
            first = inOrder.peek();
        }
        return first;
    }

    void add(Waiter waiter) {
        inOrder.add(waiter);
    }

    /** Puts back one that had been granted the lock and could not use it. */
    void putBack(Waiter waiter) {
        if (waiter.isOverdue() || waiter.triesOnce() || !waiter.isThere()) {
            refuse(waiter);
        } else {
            inOrder.addFirst(waiter.waitAgain());
        }
    }

    void leave(Waiter waiter) {
        refuse(waiter);
        inOrder.remove(waiter);
    }

    void grantFirst(Hold hold) {
        Waiter first = inOrder.remove();
        first.grant(hold);
        mutex.tellLater(first);
    }

    void refuse(Waiter waiter) {
        waiter.refuse();
        mutex.tellLater(waiter);
    }

    void fail(Waiter waiter, String reason, @Nullable Throwable cause) {
        waiter.fail(reason, cause);
        mutex.tellLater(waiter);
    }

    /** One that waited for an answer and got none. */
    void giveUp(Waiter waiter, String reason, @Nullable Throwable cause) {
        fail(waiter, reason, cause);
        inOrder.remove(waiter);
    }

    void refuseIf(Predicate<Waiter> which) {
        settle(which, this::refuse);
    }

    void failIf(Predicate<Waiter> which, String reason, @Nullable Throwable cause) {
        settle(which, waiter -> fail(waiter, reason, cause));
    }

    void failAll(String reason, @Nullable Throwable cause) {
        for (Waiter first = inOrder.peek(); first != null; first = inOrder.peek()) {
            if (first.isWaiting()) {
                fail(first, reason, cause);
            }
            inOrder.remove();
        }
    }

    /** Ends the wait of those who follow. */
    void complete() {
        settle(Waiter::follows, waiter -> {
            waiter.complete();
            mutex.tellLater(waiter);
        });
    }

    private void settle(Predicate<Waiter> which, Consumer<Waiter> how) {
        inOrder.removeIf(waiter -> {
            boolean settled = which.test(waiter);
            if (settled) {
                how.accept(waiter);
            }
            return settled;
        });
    }
}
