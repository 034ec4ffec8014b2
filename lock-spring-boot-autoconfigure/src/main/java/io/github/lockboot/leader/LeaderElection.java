package io.github.lockboot.leader;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.lockboot.DistributedLock.Mode;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRuntime;
import io.github.lockboot.NamedLock;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.SerialExecutor;
import io.github.lockboot.internal.Threads;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.internal.Unexpected;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationEventPublisherAware;
import org.springframework.context.SmartLifecycle;

/**
 * Stands for election to a role from {@link #start} to {@link #stop}: of all instances of an application at most one leads at a time.
 * Define one bean for each role; the context starts it last and stops it first. Thread-safe.
 *
 * <pre>{@code
 * @Bean
 * LeaderElection reports(LockRegistry registry) {
 *     return LeaderElection.of(registry, "reports");
 * }
 * }</pre>
 *
 * <p>The leader holds the lock {@code leader:<role>}, which is renewed. Its group is the role, so {@code lock.locks.<role>.ttl}
 * configures it.
 *
 * <pre>
 *              stand()            granted              lost, resign(), stop()
 *   IDLE ──────────────▶ STANDING ─────────▶ LEADING ─────────────────────────▶ LEAVING
 *    ▲  ▲     failed, stop() │                 Granted                   Revoked   │
 *    │  └────────────────────┘                                                     │
 *    └─────────────────────────────────────────────────────────────────────────────┘
 *                        listeners have returned from Revoked, lock released
 * </pre>
 *
 * While it is started, IDLE ends at once, or after a failure within a second.
 *
 * <p><b>Events.</b> {@link Granted} and {@link Revoked} go to the {@linkplain #addListener listeners} and, if this is a bean, to the
 * application context. Both come exactly once for each leadership, in order, on one thread for each role, which exists while there is
 * something to deliver. What a listener throws is logged. A listener that blocks delays the events of its role, but neither
 * {@link #isLeader()}, nor the renewal, nor another role.
 * <ul>
 *   <li>When {@code Granted} is delivered, {@link #isLeader()} is true, unless the leadership has ended by then. When {@code Revoked}
 *       is delivered, it is false.
 *   <li>After {@link #resign} and {@link #stop} the lock is released when all listeners have returned from {@code Revoked}, but at the
 *       latest after its ttl. If it was lost, another may lead by then. If Redis is away, {@code Revoked} is delivered before the lock
 *       runs out in Redis, unless a listener blocks.
 *   <li>An instance stands again when its listeners have returned.
 * </ul>
 */
public final class LeaderElection implements SmartLifecycle, ApplicationEventPublisherAware {

    /** What happens to the leadership of this instance. */
    public sealed interface Event {

        /** {@return the role} */
        String role();

        /** {@return the fencing token of the leadership, larger than those of all before} */
        long fencingToken();
    }

    /** This instance leads. */
    public record Granted(String role, long fencingToken) implements Event {}

    /** This instance leads no longer. */
    public record Revoked(String role, long fencingToken) implements Event {}

    /** Is called when this instance leads, and when it leads no longer. */
    public interface Listener {

        /** This instance leads. Should return soon: {@link #onRevoked} waits for it. */
        default void onGranted(Granted event) {}

        /** This instance leads no longer. After a resignation or a stop, another leads only when this has returned, or after the ttl. */
        default void onRevoked(Revoked event) {}
    }

    private enum State {
        IDLE,
        STANDING,
        LEADING,
        LEAVING
    }

    private static final Log log = LogFactory.getLog(LeaderElection.class);
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** As good as for ever. */
    private static final Duration FOR_EVER = Duration.ofDays(36_500);

    private final LockRegistry registry;
    private final String role;
    private final NamedLock lock;
    private final Timer timer;
    private final ThreadFactory threads;
    private final SerialExecutor events = new SerialExecutor(this::deliver);
    private final List<Listener> listeners = new CopyOnWriteArrayList<>();

    /** Guards the state. The registry is not called with it held, because it may call back on the same thread. */
    private final Object monitor = new Object();

    private State state = State.IDLE;
    private CompletableFuture<Void> attempt = new CompletableFuture<>();
    private Timer.Task looks = () -> {};
    private volatile boolean running;
    private volatile @Nullable Leadership leadership;
    private volatile @Nullable Runnable undelivered;

    LeaderElection(LockRegistry registry, String role, LockOptions options, Timer timer, ThreadFactory threads) {
        LockOptions kept = options.withRenewal().withMaxHold(FOR_EVER);
        this.registry = registry;
        this.role = role;
        this.lock = registry.get("leader:" + role, kept.group() == null ? kept.withGroup(role) : kept);
        this.timer = timer;
        this.threads = threads;
        if (lock.options().mode() == Mode.SHARED || lock.options().permits() != null) {
            throw new IllegalArgumentException(
                    "role " + role + " would have several leaders; its lock must have no permits"
                            + " and not be shared, also by lock.locks.["
                            + lock.options().group() + "]");
        }
    }

    /**
     * {@return an election to a role} As {@link #of(LockRegistry, String, LockOptions)} with the registry's own options.
     *
     * @param registry makes the lock
     * @param role in which one instance leads; not a name of a lock, and no personal data
     */
    public static LeaderElection of(LockRegistry registry, String role) {
        return of(registry, role, LockOptions.defaults());
    }

    /**
     * {@return an election to a role} The leader keeps the lock without a {@link LockOptions#maxHold()}, unless that is configured for
     * its group.
     *
     * @param registry makes the lock
     * @param role in which one instance leads; not a name of a lock, and no personal data
     * @param options how the lock is held, such as its ttl; what they leave open is the registry's
     * @throws IllegalArgumentException if several could lead, because the lock is shared or has permits, or if the role is empty, too
     *     long or not well-formed Unicode
     */
    public static LeaderElection of(LockRegistry registry, String role, LockOptions options) {
        return new LeaderElection(
                registry,
                role,
                options,
                Timer.system("lock-leader-timer"),
                Threads.daemons("lock-leader-" + LockNames.printable(role)));
    }

    // --- questions --------------------------------------------------------------------------------------------

    /** {@return the role} */
    public String role() {
        return role;
    }

    /**
     * {@return whether this instance leads, by its own clock and without a command} Between this answer and what is then done, time
     * passes: what must not happen twice needs the {@link #fencingToken()}.
     */
    public boolean isLeader() {
        return current() != null;
    }

    /** {@return the fencing token of the leadership; empty if this instance does not lead} */
    public OptionalLong fencingToken() {
        Leadership current = current();
        return current == null ? OptionalLong.empty() : OptionalLong.of(current.lease.fencingToken());
    }

    /** {@return since when this instance leads; empty if it does not} */
    public Optional<Instant> since() {
        return Optional.ofNullable(current()).map(current -> current.since);
    }

    private @Nullable Leadership current() {
        Leadership current = leadership;
        return current != null && !current.ended && current.lease.isValid() ? current : null;
    }

    // --- what users do ----------------------------------------------------------------------------------------

    /**
     * Adds a listener for events from now on: usually before the start.
     *
     * @param listener called after those added before
     */
    public void addListener(Listener listener) {
        listeners.add(listener);
    }

    @Override
    public void setApplicationEventPublisher(ApplicationEventPublisher publisher) {
        addListener(new Listener() {
            @Override
            public void onGranted(Granted event) {
                publisher.publishEvent(event);
            }

            @Override
            public void onRevoked(Revoked event) {
                publisher.publishEvent(event);
            }
        });
    }

    /**
     * Gives the leadership up, and stands again behind all others that stand. {@link #isLeader()} is false when this returns. Does not
     * wait for listeners, so they may call it. Does nothing if this instance does not lead.
     */
    public void resign() {
        Leadership resigned = leadership;
        if (resigned != null) {
            end(resigned);
        }
    }

    /** Begins to stand. Does not block, and does nothing if it was started before. */
    @Override
    public void start() {
        synchronized (monitor) {
            if (!running) {
                looks.cancel();
                looks = timer.repeat(LOOK_NANOS, LOOK_NANOS, this::lookAfter);
                running = true;
            }
        }
        stand();
    }

    /** Gives the leadership up, and does not stand again. As {@link #stop(Runnable)}, without a callback. */
    @Override
    public void stop() {
        stop(() -> {});
    }

    /**
     * Gives the leadership up, and does not stand again. {@link #isLeader()} is false when this returns. Does not wait for listeners, so
     * they may call it.
     *
     * @param callback runs when the lock has been released
     */
    @Override
    public void stop(Runnable callback) {
        CompletableFuture<Void> cancelled;
        Leadership last;
        synchronized (monitor) {
            running = false;
            cancelled = attempt;
            last = leadership;
            if (last == null) {
                state = State.IDLE;
                looks.cancel();
            }
        }
        cancelled.complete(null);
        if (last == null) {
            callback.run();
        } else {
            end(last);
            last.released.thenRun(callback);
        }
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    // --- transitions ------------------------------------------------------------------------------------------

    private void stand() {
        CompletableFuture<Void> standing = new CompletableFuture<>();
        synchronized (monitor) {
            if (!running || state != State.IDLE) {
                return;
            }
            state = State.STANDING;
            attempt = standing;
        }
        CompletableFuture<Lease> asked = ask();
        asked.whenComplete((lease, failure) -> {
            if (lease != null) {
                granted(standing, lease);
            } else {
                failed(standing, failure);
            }
        });
        Futures.cancelWith(standing, asked);
    }

    /** It waits for as long as it takes, whatever is configured. */
    private CompletableFuture<Lease> ask() {
        try {
            return LockRuntime.acquireAsync(registry, lock, FOR_EVER);
        } catch (Throwable thrown) {
            return CompletableFuture.failedFuture(thrown);
        }
    }

    private void granted(CompletableFuture<Void> standing, Lease lease) {
        Leadership granted = new Leadership(lease);
        synchronized (monitor) {
            if (state == State.STANDING && attempt == standing) {
                state = State.LEADING;
                leadership = granted;
                events.execute(() -> publish(new Granted(role, lease.fencingToken())));
            }
        }
        if (leadership == granted) {
            lease.onLost(() -> end(granted));
        } else {
            granted.release();
        }
    }

    private void failed(CompletableFuture<Void> standing, Throwable failure) {
        synchronized (monitor) {
            if (state == State.STANDING && attempt == standing) {
                state = State.IDLE;
            }
        }
        log.debug("Cannot stand for '" + role + "' now", failure);
    }

    private void end(Leadership ending) {
        synchronized (monitor) {
            if (state == State.LEADING && leadership == ending) {
                state = State.LEAVING;
                ending.releaseAt = timer.nanoTime() + ending.ttlNanos();
                ending.ended = true;
                events.execute(() -> {
                    publish(new Revoked(role, ending.lease.fencingToken()));
                    ending.release().thenRun(() -> left(ending));
                });
            }
        }
    }

    private void left(Leadership left) {
        synchronized (monitor) {
            if (leadership == left) {
                leadership = null;
                state = State.IDLE;
                if (!running) {
                    looks.cancel();
                }
            }
        }
        stand();
    }

    /** Once a second while started: stands again after a failure, and finishes what listeners or a lack of threads hold up. */
    private void lookAfter() {
        stand();
        Runnable waiting = undelivered;
        if (waiting != null) {
            undelivered = null;
            deliver(waiting);
        }
        Leadership last = leadership;
        if (last != null && last.ended && timer.nanoTime() - last.releaseAt >= 0) {
            last.release();
        }
    }

    // --- events -----------------------------------------------------------------------------------------------

    private void deliver(Runnable deliveries) {
        try {
            threads.newThread(deliveries).start();
        } catch (Throwable noThread) {
            undelivered = deliveries;
        }
    }

    private void publish(Event event) {
        log.info((event instanceof Granted ? "Leads '" : "No longer leads '") + role + "' (token "
                + event.fencingToken() + ")");
        for (Listener listener : listeners) {
            Unexpected.attempt("in a listener of the leader of '" + role + "'", () -> {
                if (event instanceof Granted granted) {
                    listener.onGranted(granted);
                } else if (event instanceof Revoked revoked) {
                    listener.onRevoked(revoked);
                }
            });
        }
    }

    @Override
    public String toString() {
        synchronized (monitor) {
            return "LeaderElection[" + LockNames.printable(role) + ", " + state + "]";
        }
    }

    /** From a grant to the release of its lease. */
    private final class Leadership {

        final Lease lease;
        final Instant since = Instant.ofEpochMilli(timer.wallMillis());
        final CompletableFuture<Void> released = new CompletableFuture<>();
        private final AtomicBoolean releasing = new AtomicBoolean();
        volatile boolean ended;
        volatile long releaseAt;

        Leadership(Lease lease) {
            this.lease = lease;
        }

        long ttlNanos() {
            Duration ttl = lock.options().ttl();
            return ttl == null ? 0 : ttl.toNanos();
        }

        /** {@return completes when the lock is released, or known to be lost} */
        CompletableFuture<Void> release() {
            if (releasing.compareAndSet(false, true)) {
                try {
                    lease.closeAfter(Duration.ZERO).whenComplete((none, lost) -> released.complete(null));
                } catch (Throwable thrown) {
                    released.complete(null);
                }
            }
            return released;
        }
    }
}
