package io.github.lockboot.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.LockListener.Origin;
import io.github.lockboot.LockLostException;
import org.jspecify.annotations.Nullable;

import static java.util.Objects.requireNonNull;

/**
 * One hold, from grant to release or loss. When its lease ends is known from the start, because a live holder renews it every
 * third of its ttl, until the maximum time of the hold. What changes is guarded by the mutex of {@link MemoryLocks}.
 */
final class Hold {

    /** A time that never comes. */
    static final long NEVER = Long.MAX_VALUE;

    final Request request;
    final long token;
    final Origin origin;
    private final long start;
    private final long ttl;
    private final boolean renewed;
    private List<Runnable> lossCallbacks = new ArrayList<>(0);
    private @Nullable String lossReason;
    private int count = 1;
    private long end;
    private boolean ownerEnded;
    private boolean outlivesThread;

    Hold(Request request, long token, Origin origin, long start) {
        this.request = request;
        this.token = token;
        this.origin = origin;
        this.start = start;
        this.ttl = nanos(requireNonNull(request.options().ttl()));
        this.renewed = requireNonNull(request.options().renew());
        this.end = plus(plus(start, renewed ? lastRenewal(request.options().maxHold()) : 0), ttl);
    }

    private long lastRenewal(@Nullable Duration maxHold) {
        return maxHold == null ? NEVER : (nanos(maxHold) - 1) / (ttl / 3) * (ttl / 3);
    }

    static long nanos(Duration duration) {
        return TimeUnit.NANOSECONDS.convert(duration);
    }

    /** The sum of two times, or never if it is too large. */
    static long plus(long time, long more) {
        return more > NEVER - time ? NEVER : time + more;
    }

    /** When the lease runs out. */
    long end() {
        return end;
    }

    /** When it is renewed next, if its thread is alive then. */
    long nextRenewal(long now) {
        return request.thread() == null ? NEVER : plus(now, ttl / 3 - sinceRenewal(now));
    }

    private long sinceRenewal(long now) {
        return (now - start) % (ttl / 3);
    }

    Duration remaining(long now) {
        long lease = renewed ? Math.min(end - now, ttl - sinceRenewal(now)) : end - now;
        return isValid() ? Duration.ofNanos(Math.max(0, lease)) : Duration.ZERO;
    }

    /** Any thread may release it, so it does not end with its own. */
    void outliveThread() {
        outlivesThread = true;
    }

    /** A thread that has ended does not renew. */
    void checkThread(long now) {
        Thread owner = request.thread();
        if (!ownerEnded && !outlivesThread && owner != null && !owner.isAlive()) {
            ownerEnded = true;
            end = Math.min(end, plus(now, ttl));
        }
    }

    String whyItRanOut() {
        return ownerEnded ? "its thread ended without releasing it" : "its lease ran out";
    }

    /** The number of times that its owner has acquired it; zero once it is released. */
    int count() {
        return count;
    }

    void reenter() {
        count = Math.addExact(count, 1);
    }

    /** @return whether that was the last one */
    boolean exit() {
        count--;
        return count == 0;
    }

    boolean isValid() {
        return count > 0 && lossReason == null;
    }

    boolean isLost() {
        return lossReason != null;
    }

    /** @return the callbacks to run */
    List<Runnable> lose(String reason) {
        lossReason = reason;
        List<Runnable> callbacks = lossCallbacks;
        lossCallbacks = List.of();
        return callbacks;
    }

    void onLost(Runnable callback) {
        lossCallbacks.add(callback);
    }

    /** @throws LockLostException if it was lost */
    void requireIntact() {
        if (lossReason != null) {
            throw new LockLostException(request.name(), token, lossReason);
        }
    }
}
