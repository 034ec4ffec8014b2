package io.github.lockboot.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.lockboot.LockListener.Origin;
import io.github.lockboot.LockLostException;
import org.jspecify.annotations.Nullable;

/** One hold, from grant to release or loss. What changes is guarded by the mutex of {@link MemoryLocks}. */
final class Hold {

    private final Request request;
    private final long token;
    private final Origin origin;
    private final long start;
    private final Lifetime lifetime;
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
        this.lifetime = Lifetime.of(request.options());
        this.end = Lifetime.plus(start, lifetime.length());
    }

    Request request() {
        return request;
    }

    long token() {
        return token;
    }

    Origin origin() {
        return origin;
    }

    /** When the lease runs out. */
    long end() {
        return end;
    }

    /** When it is renewed next, if its thread is alive then. */
    long nextRenewal(long now) {
        return request.thread() == null ? Lifetime.NEVER : Lifetime.plus(now, lifetime.untilRenewal(now - start));
    }

    Duration remaining(long now) {
        return isValid() ? Duration.ofNanos(lifetime.remaining(now - start)) : Duration.ZERO;
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
            end = Math.min(end, Lifetime.plus(now, lifetime.ttl()));
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
