package io.github.lockboot.leader;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
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
 * An instance that campaigns for a role, one {@link Campaign} after the other: each waits for the lock, holds it, and
 * releases it.
 *
 * <pre>
 *              campaign()             elected             lost, resign(), stop()
 *   IDLE ──────────────▶ CAMPAIGNING ─────────▶ LEADING ────────────────────────▶ LEAVING
 *    ▲ ▲   failed, stop()   │                   Elected                  Revoked    │
 *    │ └────────────────────┘                                                       │
 *    └──────────────────────────────────────────────────────────────────────────────┘
 *                    listeners have returned from Revoked, and the lock is released
 * </pre>
 *
 * While it is started, IDLE ends at once, or after a failure within a second. Events are delivered in order, on a
 * thread that exists as long as there are events; if none can be started, within a second. A listener that does not
 * return keeps LEAVING, but the lock only for its ttl.
 */
final class Candidacy {

    static final Duration FOREVER = Duration.ofDays(36_500);
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final LockRegistry registry;
    private final NamedLock lock;
    private final Timer timer;
    private final ThreadFactory threads;
    private final BiConsumer<Boolean, Long> publish;
    private final SerialExecutor events = new SerialExecutor(this::deliver);

    /** Guards the fields below. The registry is not called under it, because it may call back on the same thread. */
    private final Object monitor = new Object();

    private Timer.Task retries = () -> {};
    private volatile boolean running;
    private volatile @Nullable Campaign current;

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
    Leadership leadership() {
        Campaign campaign = current;
        Leadership leadership = campaign == null || campaign.ended.isDone() ? null : campaign.leadership;
        return leadership != null && leadership.lease.isValid() ? leadership : null;
    }

    boolean isRunning() {
        return running;
    }

    void start() {
        synchronized (monitor) {
            if (!running) {
                retries.cancel();
                retries = timer.repeat(PAUSE_NANOS, PAUSE_NANOS, this::campaign);
                running = true;
            }
        }
        campaign();
    }

    void resign() {
        Campaign campaign = current;
        if (campaign != null && campaign.leadership != null) {
            campaign.ended.complete(null);
        }
    }

    /** {@return completes when the lock is released} */
    CompletableFuture<Void> stop() {
        Campaign last;
        synchronized (monitor) {
            running = false;
            last = current;
            if (last == null) {
                retries.cancel();
                return CompletableFuture.completedFuture(null);
            }
        }
        last.ended.complete(null);
        return last.released;
    }

    private void campaign() {
        Campaign campaign = new Campaign();
        synchronized (monitor) {
            if (!running || current != null) {
                return;
            }
            current = campaign;
        }
        campaign.begin();
    }

    private void becomeIdle() {
        synchronized (monitor) {
            current = null;
            if (!running) {
                retries.cancel();
            }
        }
    }

    private void deliver(Runnable deliveries) {
        try {
            threads.newThread(deliveries).start();
        } catch (Throwable noThread) {
            timer.schedule(PAUSE_NANOS, () -> deliver(deliveries));
        }
    }

    @Override
    public String toString() {
        Campaign campaign = current;
        return campaign == null ? "IDLE" : campaign.toString();
    }

    /** The lease of a leader. */
    record Leadership(Lease lease, Instant since) {}

    /** From the request for the lock to its release. */
    private final class Campaign {

        /** Completes when the lock is lost or no longer wanted. */
        final CompletableFuture<Void> ended = new CompletableFuture<>();

        /** Completes when the lock is released, known to be lost, or not granted. */
        final CompletableFuture<Void> released = new CompletableFuture<>();

        volatile @Nullable Leadership leadership;

        void begin() {
            CompletableFuture<Lease> request = request();
            request.whenComplete((lease, failure) -> {
                if (lease != null) {
                    lead(new Leadership(lease, Instant.ofEpochMilli(timer.wallMillis())));
                } else {
                    becomeIdle();
                    released.complete(null);
                }
            });
            Futures.cancelWith(ended, request);
        }

        private CompletableFuture<Lease> request() {
            try {
                return LockRuntime.acquireAsync(registry, lock, FOREVER);
            } catch (Throwable thrown) {
                return CompletableFuture.failedFuture(thrown);
            }
        }

        /** In this order, so that Revoked comes after Elected even if the campaign has ended already. */
        private void lead(Leadership granted) {
            leadership = granted;
            events.execute(() -> publish.accept(true, granted.lease.fencingToken()));
            ended.thenRun(() -> leave(granted));
            granted.lease.onLost(() -> ended.complete(null));
        }

        private void leave(Leadership ending) {
            CompletableFuture<Void> mayBeReleased = new CompletableFuture<>();
            Duration ttl = Objects.requireNonNull(lock.options().ttl());
            mayBeReleased.thenRun(timer.schedule(ttl.toNanos(), () -> mayBeReleased.complete(null))::cancel);
            mayBeReleased
                    .thenCompose(none -> ending.lease.closeAfter(Duration.ZERO))
                    .whenComplete((none, lost) -> released.complete(null));
            events.execute(() -> {
                try {
                    publish.accept(false, ending.lease.fencingToken());
                } finally {
                    mayBeReleased.complete(null);
                    released.thenRun(this::left);
                }
            });
        }

        private void left() {
            becomeIdle();
            campaign();
        }

        @Override
        public String toString() {
            return leadership == null ? "CAMPAIGNING" : ended.isDone() ? "LEAVING" : "LEADING";
        }
    }
}
