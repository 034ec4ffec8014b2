package io.github.lockboot.memory;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

import io.github.lockboot.LockListener.Origin;
import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/** The holder of one lock, and the requests that wait for it, in order. Guarded by the mutex of {@link MemoryLocks}. */
final class Slot {

    final String name;
    private final LongSupplier tokens;
    private final Deque<Request> waiting = new ArrayDeque<>(2);
    private @Nullable Hold holder;

    /** When and by what it is looked at again. */
    long alarmTime = Hold.NEVER;

    Timer.Task alarm = () -> {};

    Slot(String name, LongSupplier tokens) {
        this.name = name;
        this.tokens = tokens;
    }

    @Nullable
    Hold holder() {
        return holder;
    }

    boolean isIdle() {
        return holder == null && waiting.isEmpty();
    }

    /** Grants the lock if it is free, else queues the request. */
    void add(Request request, long now) {
        if (holder == null) {
            grant(request, Origin.ASKED, now);
        } else {
            waiting.add(request);
        }
    }

    boolean remove(Request request) {
        return waiting.remove(request);
    }

    Hold grant(Request request, Origin origin, long now) {
        Hold hold = new Hold(request, tokens.getAsLong(), origin, now);
        holder = hold;
        request.answer().complete(hold);
        return hold;
    }

    @Nullable
    Hold vacate() {
        Hold former = holder;
        holder = null;
        return former;
    }

    /** Why the holder has lost the lock by now; null if it has not. */
    @Nullable
    String whyLost(long now) {
        Hold current = holder;
        if (current == null) {
            return null;
        }
        current.checkThread(now);
        return current.end() <= now ? current.whyItRanOut() : null;
    }

    void grantToFirst(long now) {
        if (holder == null && !waiting.isEmpty()) {
            grant(waiting.remove(), Origin.GRANTED, now);
        }
    }

    /** Ends the wait of some requests. */
    void answer(Predicate<Request> which, Consumer<Request> answer) {
        Deque<Request> taken = new ArrayDeque<>(0);
        waiting.removeIf(request -> which.test(request) && taken.add(request));
        taken.forEach(answer);
    }

    /** When a lease or a wait ends next. */
    long nextDue() {
        long end = holder == null ? Hold.NEVER : holder.end();
        return Math.min(end, waiting.stream().mapToLong(Request::deadline).min().orElse(Hold.NEVER));
    }

    /** As {@link #nextDue}, or when a renewal shows whether the holder's thread is alive, if a request waits for that. */
    long nextLook(long now) {
        Hold current = holder;
        return current == null || waiting.isEmpty() ? nextDue() : Math.min(nextDue(), current.nextRenewal(now));
    }
}
