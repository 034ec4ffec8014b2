package io.github.lockboot.leader;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;

import io.github.lockboot.DistributedLock.Mode;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRuntime;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.internal.Failures;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.Logs;
import io.github.lockboot.internal.Threads;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.leader.Candidacy.Leadership;
import org.apache.commons.logging.Log;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationEventPublisherAware;
import org.springframework.context.SmartLifecycle;

/**
 * Campaigns for a role from {@link #start} to {@link #stop}: of all instances, at most one leads at a time. Define one
 * bean for each role; the context starts it last and stops it first. The leader holds the lock {@code leader:<role>},
 * renewed, whose group is the role: {@code lock.locks.<role>.ttl} configures it. Thread-safe.
 *
 * <p><b>Events.</b> {@link Elected} and {@link Revoked} go to the listeners and, if this is a bean, to the application
 * context: once for each leadership, in order, on one thread for each role. Exceptions of a listener are logged. A
 * listener that blocks delays the events of its role, but neither {@link #isLeader()}, nor the renewal, nor other
 * roles.
 *
 * <ul>
 *   <li>When {@code Elected} is delivered, {@link #isLeader()} is true, unless the leadership has ended since; when
 *       {@code Revoked} is, it is false.
 *   <li>After {@link #resign} and {@link #stop} the lock is released when all listeners have returned from
 *       {@code Revoked}, but after its ttl in any case. If the store is unavailable, {@code Revoked} is delivered
 *       before the lock expires in the store, unless a listener blocks.
 *   <li>An instance campaigns again only when all its listeners have returned.
 * </ul>
 */
public final class LeaderElection implements SmartLifecycle, ApplicationEventPublisherAware {

    /** What happens to the leadership of this instance. */
    public sealed interface Event {

        /** {@return the role} */
        String role();

        /** {@return the fencing token of the leadership, as {@link io.github.lockboot.NamedLock#fencingToken()}} */
        long fencingToken();
    }

    /** This instance leads. */
    public record Elected(String role, long fencingToken) implements Event {}

    /** This instance no longer leads. */
    public record Revoked(String role, long fencingToken) implements Event {}

    /** Is notified of the events. It should return soon, because the next event waits for it. */
    public interface Listener {

        /**
         * This instance leads.
         *
         * @param event says of which role, and with which fencing token
         */
        default void onElected(Elected event) {}

        /**
         * This instance no longer leads.
         *
         * @param event says of which role, and with which fencing token it led
         */
        default void onRevoked(Revoked event) {}
    }

    private static final Log log = Logs.of(LeaderElection.class);

    private final String role;
    private final String shown;
    private final LockRegistry registry;
    private final NamedLock lock;
    final Candidacy candidacy;
    private final List<Listener> listeners = new CopyOnWriteArrayList<>();
    private volatile ApplicationEventPublisher publisher = event -> {};

    LeaderElection(LockRegistry registry, String role, LockOptions options, Timer timer, ThreadFactory threads) {
        LockOptions kept = options.withRenewal().withMaxHold(Candidacy.FOREVER);
        this.registry = registry;
        this.lock = LockRuntime.get(registry, "leader:" + role, kept.group() == null ? kept.withGroup(role) : kept);
        this.role = role;
        this.shown = LockNames.printable(role);
        this.candidacy = new Candidacy(registry, lock, timer, threads, this::publish);
        if (lock.options().mode() == Mode.SHARED || lock.options().permits() != null) {
            throw new IllegalArgumentException("role " + shown
                    + " would have several leaders: remove mode SHARED and permits from its options, and the property"
                    + " lock.locks.[" + lock.options().group() + "].permits");
        }
    }

    /**
     * {@return an election for the role} As {@link #of(LockRegistry, String, LockOptions)} with the registry's own
     * options.
     *
     * @param registry makes the lock of the role
     * @param role the name of the role
     */
    public static LeaderElection of(LockRegistry registry, String role) {
        return of(registry, role, LockOptions.defaults());
    }

    /**
     * {@return an election for the role} A {@link LockOptions#maxHold()} ends a leadership only if it is configured for
     * the group.
     *
     * @param registry makes the lock
     * @param role in which one instance leads; no personal data
     * @param options how the lock is held, such as its ttl; the registry's options apply where they are not set
     * @throws IllegalArgumentException if the lock is shared or has permits, or the role is not the name of a lock
     */
    public static LeaderElection of(LockRegistry registry, String role, LockOptions options) {
        ThreadFactory threads = Threads.daemons("lock-leader-" + LockNames.printable(role));
        return new LeaderElection(registry, role, options, Timer.system("lock-leader-timer"), threads);
    }

    /** {@return the role} */
    public String role() {
        return role;
    }

    /**
     * {@return whether this instance leads, by its own clock and without a command} Time passes between the answer and
     * the next step: protect steps that must not happen twice by the {@link #fencingToken()}.
     */
    public boolean isLeader() {
        return candidacy.leadership() != null;
    }

    /** {@return the fencing token of the leadership; empty if this instance does not lead} */
    public OptionalLong fencingToken() {
        Leadership current = candidacy.leadership();
        return current == null
                ? OptionalLong.empty()
                : OptionalLong.of(current.lease().fencingToken());
    }

    /**
     * Reads the id of the leader from the store, by one command. For display: the answer may be outdated when it
     * arrives.
     *
     * @return the id of the holder, which begins with the session that its instance logs at the start; empty if no
     *     instance leads, or the registry is not one of this library
     * @throws LockUnavailableException if the store did not answer
     */
    public Optional<String> leader() {
        return registry instanceof LockRuntime runtime
                ? runtime.holders(lock.getName()).stream().findFirst()
                : Optional.empty();
    }

    /** {@return since when this instance leads; empty if it does not} */
    public Optional<Instant> since() {
        return Optional.ofNullable(candidacy.leadership()).map(Leadership::since);
    }

    /**
     * Adds a listener for events from now on: usually before the start.
     *
     * @param listener is called with the events
     */
    public void addListener(Listener listener) {
        listeners.add(listener);
    }

    @Override
    public void setApplicationEventPublisher(ApplicationEventPublisher publisher) {
        this.publisher = publisher;
    }

    /**
     * Gives up the leadership, if this instance leads, and campaigns again behind all other instances that campaign.
     * {@link #isLeader()} is false when this returns. Does not wait for listeners, so they may call it.
     */
    public void resign() {
        candidacy.resign();
    }

    /** Starts the campaign, unless it is running. Does not block. */
    @Override
    public void start() {
        candidacy.start();
    }

    /** As {@link #stop(Runnable)}, without a callback. */
    @Override
    public void stop() {
        candidacy.stop();
    }

    /**
     * Gives up the leadership, and ends the campaign. {@link #isLeader()} is false when this returns. Does not wait for
     * listeners, so they may call it.
     *
     * @param callback runs when the lock has been released
     */
    @Override
    public void stop(Runnable callback) {
        candidacy.stop().thenRun(callback);
    }

    @Override
    public boolean isRunning() {
        return candidacy.isRunning();
    }

    private void publish(boolean leads, long token) {
        Event event = leads ? new Elected(role, token) : new Revoked(role, token);
        attempt(() -> log.info((leads ? "This instance leads '" : "This instance no longer leads '") + shown + "'"));
        listeners.forEach(listener -> attempt(() -> {
            if (event instanceof Elected elected) {
                listener.onElected(elected);
            } else if (event instanceof Revoked revoked) {
                listener.onRevoked(revoked);
            }
        }));
        attempt(() -> publisher.publishEvent(event));
    }

    private void attempt(Runnable call) {
        Failures.runAndLog("in a listener of the leader of '" + shown + "'", call);
    }

    @Override
    public String toString() {
        return "LeaderElection[" + shown + ", " + candidacy + "]";
    }
}
