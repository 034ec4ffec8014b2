package io.github.lockboot.redis.connection;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.lockboot.engine.GrantChannel;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.internal.Announcements;
import io.github.lockboot.internal.Failures;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.Logs;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.protocol.ScriptStore;
import org.apache.commons.logging.Log;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisConnectionFailureException;

/**
 * The grant channel on Redis pub/sub, and the channel of announcements. Each has a connection of its own, because a
 * user may have the right to one channel only, and some clients lose the connection on which a channel is refused. Each
 * channel has these states:
 *
 * <pre>
 *          begin              subscribed               heard
 *  UNUSED -------> SUBSCRIBING ---------> UNCONFIRMED -------> LIVE
 *                   |  ^    ^              |       ^            |
 *                   +--+    +--------------+       +------------+
 *              failed: again   cut or silent: again   may not publish
 *               after a pause   after a pause
 * </pre>
 *
 * A connection is used until it is cut or silent, with every client: clients then behave differently, and do not report
 * everything. An echo, a message of the instance to itself, confirms the grant channel. A script publishes it, as it
 * publishes a grant: Redis may not allow scripts to publish. The channel of announcements is not confirmed.
 */
public final class PubSubGrantChannel implements GrantChannel {

    private static final Log log = Logs.of(PubSubGrantChannel.class);

    private static final long FIRST_PAUSE_MILLIS = 200;
    private static final long LONG_PAUSE_MILLIS = 3_000;
    private static final long LONGEST_PAUSE_MILLIS = 5_000;
    private static final long LONGEST_SILENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

    private enum State {
        UNUSED,
        SUBSCRIBING,
        UNCONFIRMED,
        LIVE
    }

    private final Connections connections;
    private final ScriptStore store;
    private final Supplier<String> session;
    private final Duration echoWithin;
    private final Subscriber subscriber;
    private final Timer timer;
    private final Executor workers;
    private final Subscription grants;
    private final Subscription announcements;
    private final Announcements listeners = new Announcements();
    private final Timer.Check check;
    private final AtomicReference<@Nullable Object> pendingEcho = new AtomicReference<>();
    private volatile boolean listening;
    private volatile boolean closed;

    /**
     * @param announcementChannel the channel on which all registries with this prefix announce
     * @param echoWithin the time within which an echo arrives after its answer
     */
    public PubSubGrantChannel(
            Connections connections,
            ScriptStore store,
            Supplier<String> session,
            String announcementChannel,
            Duration echoWithin,
            Subscriber subscriber,
            Timer timer,
            Executor workers) {
        this.connections = connections;
        this.store = store;
        this.session = session;
        this.echoWithin = echoWithin;
        this.subscriber = subscriber;
        this.timer = timer;
        this.workers = workers;
        this.grants = new Subscription(() -> store.channelOf(session.get()), this::onPush);
        this.announcements = new Subscription(() -> announcementChannel, listeners::announced);
        this.check = timer.check(LONGEST_SILENCE_NANOS / 3, this::checkSilence);
    }

    @Override
    public void open() {
        grants.begin();
        check.start();
        if (listening) {
            announcements.begin();
        }
    }

    @Override
    public void reopen() {
        open();
        grants.endPause();
        announcements.endPause();
    }

    @Override
    public boolean isOpened() {
        return grants.state != State.UNUSED;
    }

    /** Announces the name to this registry and to all others. */
    public void announce(String name) {
        listeners.announced(name);
        store.announce(announcements.channel.get(), name);
    }

    /**
     * Calls the listener when the name is announced, by other registries as soon as the channel is opened.
     *
     * @return ends the listening
     */
    public Runnable onAnnounced(String name, Runnable listener) {
        listening = true;
        if (isOpened()) {
            Failures.runAndLog("when announcements were subscribed to", announcements::begin);
        }
        return listeners.listen(name, listener);
    }

    private void onPush(String message) {
        Push push = Push.parse(message);
        if (push != null) {
            subscriber.onPush(push);
        }
    }

    @Override
    public boolean isLive() {
        return grants.state == State.LIVE && !closed;
    }

    @Override
    public @Nullable String problem() {
        return grants.problem;
    }

    /**
     * Requests an echo: a connection that was cut without notice looks like one without messages. Until the channel is
     * live, that is done periodically.
     */
    @Override
    public void verify() {
        verify(grants.state == State.LIVE);
    }

    /**
     * Requests an echo after a long silence, and while subscribing hangs although Redis answers. Returns whether to
     * check again.
     */
    private boolean checkSilence() {
        verify(grants.state == State.UNCONFIRMED || timer.nanoTime() - grants.heardAt >= LONGEST_SILENCE_NANOS);
        return !closed;
    }

    private void verify(boolean due) {
        Listening asked = grants.current;
        Object asking = new Object();
        if (due && asked != null && !closed && pendingEcho.compareAndSet(null, asking)) {
            store.echo(session.get())
                    .thenAccept(reply -> onEcho(reply, asked, asking))
                    .exceptionally(
                            failure -> { // without an answer from Redis, a missing echo proves nothing
                                pendingEcho.set(null);
                                return null;
                            });
        }
    }

    private void onEcho(Reply reply, Listening asked, Object asking) {
        if (reply instanceof Reply.Unpublished unpublished) {
            pendingEcho.set(null);
            grants.refused(asked, unpublished.reason());
        } else {
            timer.schedule(echoWithin.toNanos(), () -> {
                if (pendingEcho.compareAndSet(asking, null)) {
                    grants.silent(asked);
                }
            });
        }
    }

    @Override
    public void close() {
        closed = true;
        grants.end();
        announcements.end();
    }

    private void inBackground(Runnable blocking) {
        try {
            workers.execute(blocking);
        } catch (Throwable noThread) {
            timer.schedule(TimeUnit.MILLISECONDS.toNanos(FIRST_PAUSE_MILLIS), () -> inBackground(blocking));
        }
    }

    /** One of the two channels. The thread of the connection calls it and must not be blocked. */
    final class Subscription {

        private final Supplier<String> channel;
        private final Consumer<String> receiver;
        private volatile State state = State.UNUSED;
        private volatile @Nullable Listening current; // null during a pause
        private volatile long heardAt;
        private volatile boolean everLive;
        private long pauseMillis;
        private Timer.@Nullable Task pause; // until the next attempt
        private volatile @Nullable String problem; // null once it is live

        private Subscription(Supplier<String> channel, Consumer<String> receiver) {
            this.channel = channel;
            this.receiver = receiver;
        }

        /** Subscribes at the first call, or at the next one if there was no thread or memory for it. */
        private void begin() {
            synchronized (this) {
                if (state != State.UNUSED) {
                    return;
                }
                state = State.SUBSCRIBING;
            }
            listenInBackground();
        }

        private void listenInBackground() {
            try {
                workers.execute(this::listen);
            } catch (Throwable noThread) {
                listenAfter(FIRST_PAUSE_MILLIS);
            }
        }

        private synchronized void listenAfter(long pauseMillis) {
            try {
                pause = timer.schedule(TimeUnit.MILLISECONDS.toNanos(pauseMillis), this::endPause);
            } catch (Throwable notPlanned) {
                state = State.UNUSED; // the next wait subscribes again
                throw notPlanned;
            }
        }

        /** Subscribes again now, if it is to be done after a pause. */
        private void endPause() {
            synchronized (this) {
                Timer.Task ended = pause;
                if (ended == null) {
                    return;
                }
                pause = null;
                ended.cancel();
            }
            listenInBackground();
        }

        private void listen() {
            Listening made = new Listening(this, PubSubGrantChannel.this::inBackground);
            heardAt = timer.nanoTime();
            current = made;
            if (closed) {
                made.end();
            } else {
                made.run(connections, channel.get());
            }
        }

        private void end() {
            Listening last = current;
            if (last != null) {
                last.end();
            }
        }

        void onSubscribed(Listening by) {
            if (this == announcements) {
                live(by);
                return;
            }
            synchronized (this) {
                if (by != current) {
                    return;
                }
                state = State.UNCONFIRMED;
            }
            onHeard();
            verify(true);
        }

        private void onHeard() {
            heardAt = timer.nanoTime();
            if (this == grants) {
                pendingEcho.set(null);
            }
        }

        void onMessage(Listening by, byte[] body) {
            if (by == current) {
                onHeard();
                live(by);
                receiver.accept(new String(body, StandardCharsets.UTF_8));
            }
        }

        private void live(Listening by) {
            boolean again;
            synchronized (this) {
                if (by != current || state == State.LIVE) {
                    return;
                }
                state = State.LIVE;
                everLive = true;
                pauseMillis = 0;
                again = problem != null;
                problem = null;
            }
            if (this == grants) {
                subscriber.onSubscribed();
            }
            if (again) {
                inBackground(() -> log.info("The channel " + channel.get() + " works again"));
            }
        }

        /** Redis does not allow the script to publish. It may do so later. */
        private void refused(Listening asked, String reason) {
            synchronized (this) {
                if (asked != current) {
                    return;
                }
                state = State.UNCONFIRMED;
            }
            warn("Redis refuses to publish on the channel " + channel.get() + ", so waiters only poll: " + reason);
        }

        private void silent(Listening asked) {
            lost(asked, "No messages arrive on the channel " + channel.get() + ", so waiters only poll");
        }

        /** The connection is cut. A warning follows only if subscribing on a new one fails. */
        void onCut(Listening cut) {
            lost(cut, null);
        }

        /**
         * Warns, but of a missing connection only after some attempts, because a pool may give others that are cut as
         * well, and not before there has been one: then locks fail, too, and report it.
         */
        void onFailed(Listening failed, Throwable failure) {
            String reason = Failures.reasonOf(failure);
            if (NestedExceptionUtils.getMostSpecificCause(failure) instanceof UnsupportedOperationException) {
                current = null; // for good, such as with a fixed list of master and replicas
                failed.end();
                inBackground(() -> log.info("Waiters only poll, because this client does not subscribe to the channel "
                        + channel.get() + ": " + reason));
            } else {
                String warning =
                        "Subscribing to the channel " + channel.get() + " failed, so waiters only poll: " + reason;
                boolean notConnected = failure instanceof RedisConnectionFailureException;
                boolean mayBeOld = notConnected || failure instanceof QueryTimeoutException;
                lost(failed, null);
                if ((everLive || !notConnected) && problem == null && !closed) {
                    warnIfAnswered(warning, !mayBeOld || hasPausedForLong());
                }
            }
        }

        private synchronized boolean hasPausedForLong() {
            return pauseMillis >= LONG_PAUSE_MILLIS;
        }

        /**
         * Waiters poll only while Redis answers commands.
         *
         * @param lasting whether the answer counts; the first ones use up connections of a pool that are cut
         */
        private void warnIfAnswered(String warning, boolean lasting) {
            store.echo(session.get()).whenComplete((reply, unanswered) -> {
                if (lasting
                        && subscriber.onAnswer(unanswered == null ? null : Futures.unwrap(unanswered))
                        && state != State.LIVE) {
                    warn(warning);
                }
            });
        }

        private void lost(Listening lost, @Nullable String warning) {
            long pause;
            synchronized (this) {
                if (lost != current) {
                    return;
                }
                pauseMillis = Math.min(Math.max(2 * pauseMillis, FIRST_PAUSE_MILLIS), LONGEST_PAUSE_MILLIS);
                pause = ThreadLocalRandom.current().nextLong(pauseMillis / 2, pauseMillis + pauseMillis / 2);
                state = State.SUBSCRIBING;
                current = null;
            }
            try {
                lost.end();
            } finally { // also if no thread is free to close the connection
                if (!closed) {
                    listenAfter(pause);
                    warn(warning);
                }
            }
        }

        /** Warns once until the channel is live. In the background, because logging may block. */
        private void warn(@Nullable String warning) {
            synchronized (this) {
                if (warning == null || problem != null) {
                    return;
                }
                problem = warning;
            }
            inBackground(() -> {
                if (!closed) {
                    log.warn(warning);
                }
            });
        }
    }
}
