package io.github.lockboot.leader;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

import io.github.lockboot.Lease;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRuntime;
import io.github.lockboot.NamedLock;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.SerialExecutor;
import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/**
 * The campaign of an instance for a role: it waits for the lock, holds it, and releases it.
 *
 * <pre>
 *              campaign()             granted             lost, resign(), stop()
 *   IDLE ──────────────▶ CAMPAIGNING ─────────▶ LEADING ────────────────────────▶ LEAVING
 *    ▲ ▲   failed, stop()   │                   Granted                  Revoked    │
 *    │ └────────────────────┘                                                       │
 *    └──────────────────────────────────────────────────────────────────────────────┘
 *                    listeners have returned from Revoked, and the lock is released
 * </pre>
 *
 * While it is started, IDLE ends at once, or after a failure within a second. An event is put in order with the change of the state, and
 * delivered on a thread that exists as long as there are events. A listener that does not return keeps LEAVING, but the lock only for its
 * ttl.
 */
final class Candidacy {

    private enum State {
        IDLE,
        CAMPAIGNING,
        LEADING,
        LEAVING
    }

    static final Duration FOREVER = Duration.ofDays(36_500);
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final LockRegistry registry;
    private final NamedLock lock;
    private final Timer timer;
    private final ThreadFactory threads;
    private final BiConsumer<Boolean, Long> publish;
    private final SerialExecutor events = new SerialExecutor(this::deliver);

    /** Guards the state. The registry is not called under it, because it may call back on the same thread. */
    private final Object monitor = new Object();

    private State state = State.IDLE;
    private CompletableFuture<Void> attempt = new CompletableFuture<>();
    private Timer.Task retries = () -> {};
    private volatile boolean running;
    private volatile @Nullable Leadership leadership;
    private volatile @Nullable Runnable undelivered;

    /** @param publish takes whether it leads, and the fencing token; it may block */
    Candidacy(
            LockRegistry registry,
            NamedLock lock,
            Timer timer,
            ThreadFactory threads,
            BiConsumer<Boolean, Long> publish) {
        this.registry = registry;
        this.lock = lock;
        this.timer = timer;
        this.threads = threads;
        this.publish = publish;
    }

    /** Null if it does not lead, by the clock of the lease. */
    @Nullable
    Leadership current() {
        Leadership current = leadership;
        return current != null && !current.ended && current.lease.isValid() ? current : null;
    }

    boolean isRunning() {
        return running;
    }

    void start() {
        synchronized (monitor) {
            if (!running) {
                retries.cancel();
                retries = timer.repeat(PAUSE_NANOS, PAUSE_NANOS, this::retry);
                running = true;
            }
        }
        campaign();
    }

    void resign() {
        Leadership resigned = leadership;
        if (resigned != null) {
            end(resigned);
        }
    }

    /** {@return completes when the lock is released} */
    CompletableFuture<Void> stop() {
        CompletableFuture<Void> cancelled;
        Leadership last;
        synchronized (monitor) {
            running = false;
            cancelled = attempt;
            last = leadership;
            if (last == null) {
                becomeIdle();
            }
        }
        cancelled.complete(null);
        if (last == null) {
            return cancelled;
        }
        end(last);
        return last.released;
    }

    private void campaign() {
        CompletableFuture<Void> campaign = new CompletableFuture<>();
        synchronized (monitor) {
            if (!running || state != State.IDLE) {
                return;
            }
            state = State.CAMPAIGNING;
            attempt = campaign;
        }
        CompletableFuture<Lease> asked;
        try {
            asked = LockRuntime.acquireAsync(registry, lock, FOREVER);
        } catch (Throwable thrown) {
            asked = CompletableFuture.failedFuture(thrown);
        }
        asked.whenComplete((lease, failure) -> answered(campaign, lease));
        Futures.cancelWith(campaign, asked);
    }

    private void answered(CompletableFuture<Void> campaign, @Nullable Lease lease) {
        Leadership granted = lease == null ? null : new Leadership(lease);
        synchronized (monitor) {
            boolean awaited = state == State.CAMPAIGNING && attempt == campaign;
            if (awaited && granted != null) {
                state = State.LEADING;
                leadership = granted;
                events.execute(() -> publish.accept(true, granted.token()));
            } else if (awaited) {
                becomeIdle();
            }
        }
        if (granted != null && leadership == granted) {
            granted.lease.onLost(() -> end(granted));
        } else if (granted != null) {
            granted.release();
        }
    }

    private void end(Leadership ending) {
        synchronized (monitor) {
            if (state == State.LEADING && leadership == ending) {
                state = State.LEAVING;
                ending.ended = true;
                Duration ttl = Objects.requireNonNull(lock.options().ttl());
                ending.released.thenRun(timer.schedule(ttl.toNanos(), ending::release)::cancel);
                events.execute(() -> {
                    try {
                        publish.accept(false, ending.token());
                    } finally {
                        ending.release().thenRun(() -> left(ending));
                    }
                });
            }
        }
    }

    /** Campaigns again after a failure, and delivers what found no thread. */
    private void retry() {
        campaign();
        Runnable waiting = undelivered;
        if (waiting != null) {
            undelivered = null;
            deliver(waiting);
        }
    }

    private void left(Leadership left) {
        synchronized (monitor) {
            if (leadership == left) {
                leadership = null;
                becomeIdle();
            }
        }
        campaign();
    }

    private void becomeIdle() {
        state = State.IDLE;
        if (!running) {
            retries.cancel();
        }
    }

    /** Never throws: the event is in the queue by now, and would be put there twice. */
    private void deliver(Runnable deliveries) {
        try {
            threads.newThread(deliveries).start();
        } catch (Throwable noThread) {
            undelivered = deliveries;
        }
    }

    @Override
    public String toString() {
        synchronized (monitor) {
            return state.toString();
        }
    }

    /** From a grant to the release of its lease. */
    final class Leadership {

        final Instant since = Instant.ofEpochMilli(timer.wallMillis());
        private final Lease lease;
        private final CompletableFuture<Void> released = new CompletableFuture<>();
        private final AtomicBoolean releasing = new AtomicBoolean();
        private volatile boolean ended;

        private Leadership(Lease lease) {
            this.lease = lease;
        }

        long token() {
            return lease.fencingToken();
        }

        /** {@return completes when the lock is released, or known to be lost} */
        private CompletableFuture<Void> release() {
            if (releasing.compareAndSet(false, true)) {
                lease.closeAfter(Duration.ZERO).whenComplete((none, lost) -> released.complete(null));
            }
            return released;
        }
    }
}
