package io.github.lockboot.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockScope;
import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;

/** One hold, from grant to release or loss. What changes in it is guarded by the mutex of its locks. */
final class MemoryHold implements Lease, LockScope {

    private enum State {
        HELD,
        RELEASED,
        LOST
    }

    private final MemoryLocks locks;
    private final Request request;
    private final long token;
    private final long start;
    private final Lifetime lifetime;
    private final List<Runnable> lossCallbacks = new ArrayList<>(0);
    private State state = State.HELD;
    private String lossReason = "";
    private int count = 1;
    private long end;
    private boolean ownerEnded;
    private boolean outlivesThread;

    MemoryHold(MemoryLocks locks, Request request, long token, long start) {
        this.locks = locks;
        this.request = request;
        this.token = token;
        this.start = start;
        this.lifetime = Lifetime.of(request.options());
        this.end = Lifetime.plus(start, lifetime.length());
    }

    Request request() {
        return request;
    }

    long end() {
        return end;
    }

    /** When it is renewed next, if its thread lives then. */
    long nextRenewal(long now) {
        return request.thread() == null ? Lifetime.NEVER : Lifetime.plus(now, lifetime.untilRenewal(now - start));
    }

    /** Any thread may release it, so it does not end with its own. */
    void outliveThread() {
        outlivesThread = true;
    }

    /** A thread that has ended renews nothing. */
    void lookAtThread(long now) {
        Thread owner = request.thread();
        if (!ownerEnded && !outlivesThread && owner != null && !owner.isAlive()) {
            ownerEnded = true;
            end = Math.min(end, Lifetime.plus(now, lifetime.ttl()));
        }
    }

    String whyItRanOut() {
        return ownerEnded ? "its thread ended without releasing it" : "its lease ran out";
    }

    void lose(String reason) {
        state = State.LOST;
        lossReason = reason;
        locks.callBack(() -> request.use().lost(reason));
        lossCallbacks.forEach(locks::callBack);
        lossCallbacks.clear();
    }

    boolean isHeld() {
        return state == State.HELD;
    }

    boolean isLost() {
        return state == State.LOST;
    }

    /** Reentrant holds of the owner. */
    int count() {
        return count;
    }

    void enterAgain() {
        count = Math.addExact(count, 1);
    }

    /** @return holds left */
    int exit() {
        return --count;
    }

    LockLostException lostException() {
        return new LockLostException(name(), token, lossReason);
    }

    @Override
    public String name() {
        return request.name();
    }

    @Override
    public long fencingToken() {
        return token;
    }

    @Override
    public boolean isValid() {
        return locks.inOrder(name(), slot -> isHeld());
    }

    @Override
    public Duration remainingLease() {
        return locks.inOrder(
                name(), slot -> isHeld() ? Duration.ofNanos(lifetime.remaining(locks.now() - start)) : Duration.ZERO);
    }

    @Override
    public <T extends @Nullable Object, E extends Throwable> T call(Body<T, E> action) throws E {
        return request.use().call(action);
    }

    @Override
    public void onLost(Runnable callback) {
        locks.inOrder(name(), slot -> {
            if (isLost()) {
                locks.callBack(callback);
            }
            return isHeld() && lossCallbacks.add(callback);
        });
    }

    @Override
    public void close() {
        end(Slot::vacate);
    }

    /** As {@link #close}, and ends the wait of all who follow. */
    void complete() {
        end(Slot::complete);
    }

    private void end(Consumer<Slot> how) {
        boolean released = locks.inOrder(name(), slot -> {
            if (isLost()) {
                throw lostException();
            }
            return isHeld() && end(slot, how);
        });
        if (released) {
            request.use().released();
        }
    }

    /** Gives the lock to the next in its slot. */
    boolean release(Slot slot) {
        return end(slot, Slot::vacate);
    }

    private boolean end(Slot slot, Consumer<Slot> how) {
        state = State.RELEASED;
        lossCallbacks.clear();
        how.accept(slot);
        return true;
    }

    @Override
    public String toString() {
        return "Lease[" + LockNames.printable(name()) + ", token " + token + "]";
    }
}
