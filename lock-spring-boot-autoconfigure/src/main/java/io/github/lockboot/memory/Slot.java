package io.github.lockboot.memory;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

import io.github.lockboot.LockUnavailableException;
import org.jspecify.annotations.Nullable;

/** One name: who holds it, and who waits for it, in order. Used under the mutex of its locks. */
final class Slot {

    private final MemoryLocks locks;
    private final String name;
    private final Deque<Request> waiting = new ArrayDeque<>(2);
    private @Nullable MemoryHold holder;
    private CompletableFuture<?> alarm = CompletableFuture.completedFuture(null);
    private long alarmTime = Lifetime.NEVER;

    Slot(MemoryLocks locks, String name) {
        this.locks = locks;
        this.name = name;
    }

    String name() {
        return name;
    }

    @Nullable
    MemoryHold holder() {
        return holder;
    }

    boolean isIdle() {
        return holder == null && waiting.isEmpty();
    }

    void add(Request request) {
        waiting.add(request);
    }

    boolean remove(Request request) {
        return waiting.remove(request);
    }

    void vacate() {
        holder = null;
    }

    MemoryHold grant(Request request) {
        MemoryHold hold = new MemoryHold(locks, request, locks.nextToken(), locks.now());
        holder = hold;
        request.answer().complete(hold);
        return hold;
    }

    void lose(String reason) {
        MemoryHold lost = holder;
        if (lost != null) {
            holder = null;
            lost.lose(reason);
            locks.remember(lost);
        }
    }

    /** Ends the hold and the wait of all who follow. */
    void complete() {
        vacate();
        take(request -> request.completed() != null)
                .forEach(request -> Objects.requireNonNull(request.completed()).run());
    }

    /** Has those who wait through the registry wait no longer. */
    void fail(MemoryLockRegistry registry, String reason) {
        take(request -> request.registry() == registry)
                .forEach(request ->
                        request.answer().completeExceptionally(new LockUnavailableException(name, reason, null)));
    }

    /** Does what is due: ends the lease that has run out, serves the first in the queue, refuses those whose time is up. */
    void settle() {
        long now = locks.now();
        MemoryHold current = holder;
        if (current != null) {
            current.lookAtThread(now);
            if (current.end() <= now) {
                lose(current.whyItRanOut());
            }
        }
        if (holder == null && !waiting.isEmpty()) {
            grant(waiting.remove());
        }
        take(request -> request.deadline() <= now)
                .forEach(request -> request.answer().complete(null));
        MemoryHold next = holder;
        setAlarm(next == null || waiting.isEmpty() ? nextDue() : Math.min(nextDue(), next.nextRenewal(now)));
    }

    private Deque<Request> take(Predicate<Request> which) {
        Deque<Request> taken = new ArrayDeque<>(0);
        waiting.removeIf(request -> which.test(request) && taken.add(request));
        return taken;
    }

    /** When something is due next. */
    long nextDue() {
        long end = holder == null ? Lifetime.NEVER : holder.end();
        return Math.min(end, waiting.stream().mapToLong(Request::deadline).min().orElse(Lifetime.NEVER));
    }

    /** Forgets when to look again, because that has come or the time has been changed. */
    void resetAlarm() {
        setAlarm(Lifetime.NEVER);
    }

    private void setAlarm(long time) {
        if (time == alarmTime) {
            return;
        }
        alarm.cancel(false);
        alarmTime = time;
        if (time != Lifetime.NEVER) {
            CompletableFuture<Void> next = new CompletableFuture<>();
            next.thenRunAsync(() -> locks.lookAt(name), locks.workers());
            alarm = next.completeOnTimeout(null, time - locks.now(), TimeUnit.NANOSECONDS);
        }
    }
}
