package io.github.lockboot.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.github.lockboot.LockListener.Origin;
import io.github.lockboot.engine.GrantChannel.Push;
import io.github.lockboot.engine.Hold.Release;
import io.github.lockboot.engine.LeaseTime.Moment;
import io.github.lockboot.engine.LeaseTime.State;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.LockRequest.Transfer;
import io.github.lockboot.engine.LockStore.Grant;
import io.github.lockboot.engine.LockStore.Held;
import io.github.lockboot.internal.Failures;
import org.jspecify.annotations.Nullable;

/**
 * One acquisition id, by which the store knows a registry: all callers that wait here for a name wait there under one
 * id.
 *
 * <pre>
 *               granted by an answer           released by its last holder, or lost
 *               or by a message
 *   ASKED_FOR ───────────────────▶ HELD ───────────────────▶ ENDING ───────────────────▶ ENDED
 *       │                                                    ▲     ▲   the store does not   │
 *       └────────────────────────────────────────────────────┘     │   know it any more     │
 *               nobody waits on its terms any more                 └────────────────────────┘
 *                                                                    a late answer shows
 *                                                                    that the store does
 * </pre>
 *
 * <ul>
 *   <li>ASKED_FOR: the store may have the id in its queue, and may have granted it the lock. A message of a grant may
 *       be lost, so it asks again in every poll interval.
 *   <li>HELD: the store has given the lock to the id, for a lease. It has one hold after the other, readers have
 *       several at a time, and it may linger without one.
 *   <li>ENDING: it never asks again. The release is repeated until the store has answered, unless the store has said
 *       that the id has ended.
 * </ul>
 *
 * <p>One command of an id is under way at a time. An id is used once. It is guarded by the mutex of its name. Without
 * the mutex, look-ups read {@link #lease()} and {@link #repeated}, and {@link Name#check} reads what tells it whether
 * there is anything to do.
 */
final class Id {

    enum Life {
        ASKED_FOR,
        HELD,
        ENDING,
        ENDED
    }

    /** The newest answer that it is queued: when its command was sent, and the number of the newest grant then. */
    private record Place(Moment askedAt, long newestGrant) {}

    /** Commands that have failed, one after the other. */
    record Failing(@Nullable Throwable last, int times, long since) {}

    /** An answer that another has the lock, and when it came. */
    record Taken(Reply.Taken reply, Moment at) {

        Duration left(Moment now) {
            Duration left = Duration.ofMillis(reply.leftMillis()).minusNanos(now.nanos() - at.nanos());
            return left.isNegative() ? Duration.ZERO : left;
        }
    }

    static final String RAN_OUT = "its lease ran out";

    /** The lock may be passed on any number of times: no other registry is known to wait. */
    private static final int NO_LIMIT = -1;

    private static final long FIRST_POLL = -1;

    final String text;
    final Terms terms;

    /** What it takes over; null if it acquires the lock. */
    final @Nullable Transfer transfer;

    final Renewal renewal;

    /** Completes when its release has been answered, or has failed, for the first time. */
    final CompletableFuture<Hold.Release> released = new CompletableFuture<>();

    private final EngineContext context;
    private final LockStore.Client client;

    // --- always
    Life life = Life.ASKED_FOR;

    @Nullable
    Command underWay;

    /** For how many seconds the command is under way, as far as this process has run. */
    int seconds;

    /** When it is asked for again, or released. */
    long due;

    /** Whether the store may know it. */
    boolean mayBeKnown;

    /** Null if the newest command was answered. */
    @Nullable
    Failing failing;

    private long backoff = FIRST_POLL;

    // --- as long as it is asked for
    /** The newest answer that another has the lock; null if there is none. */
    @Nullable
    Taken taken;

    private @Nullable Place place;
    private @Nullable Push earlyGrant;
    private boolean messaged;

    /** Whether there was a reason to ask again since the request under way was sent. */
    private boolean asksAgain;

    // --- once it is held
    long grantNumber;
    private boolean pushed;
    private long firstToken;
    private long lastToken;
    private int passesLeft = NO_LIMIT;

    /** Whether other registries wait for the lock, or may. */
    boolean othersWait;

    private volatile @Nullable LeaseTime lease;

    /** How many holds it has. */
    int holds;

    /** Until when it stays without a hold; NEVER as long as it has one. */
    long lingersUntil = LeaseTime.NEVER;

    /** Until when the lock stays taken, even if its holds end earlier. */
    private long keptUntil;

    final Deque<Command.Extension> extensions = new ArrayDeque<>(0);

    /** Whether its exclusive hold has become a shared one. */
    boolean downgraded;

    /** When the store is told of the downgrade; NEVER if it has been. */
    long downgradeDue = LeaseTime.NEVER;

    // --- once it ends
    /** When it ended: its release may be sent later. */
    private @Nullable Moment endedAt;

    /** The transfer that takes the place of its release; null if there is none, or it has been tried. */
    @Nullable
    Transfer leftTo;

    /** The id whose release was to queue this one, if that release has failed. */
    @Nullable
    Id predecessor;

    /** Whether its release is repeated. */
    volatile boolean repeated;

    Id(String text, Terms terms, @Nullable Transfer transfer, EngineContext context, LockStore.Client client) {
        this.text = text;
        this.terms = terms;
        this.transfer = transfer;
        this.context = context;
        this.client = client;
        this.renewal = new Renewal(this, context, client);
    }

    void sent(Command command) {
        underWay = command;
        seconds = 0;
        mayBeKnown = true;
        asksAgain = false;
    }

    void failed(@Nullable Throwable failure, long now) {
        failing =
                failing == null ? new Failing(failure, 1, now) : new Failing(failure, failing.times + 1, failing.since);
    }

    /** Whether its commands have failed for as long as a lease. */
    boolean isFailingForLong(Moment now) {
        return failing != null && now.nanos() - failing.since >= TimeUnit.MILLISECONDS.toNanos(terms.ttlMillis());
    }

    String whyRanOut() {
        Throwable failure = failing == null ? null : failing.last;
        return failure == null ? RAN_OUT : RAN_OUT + ", and its renewal failed: " + Failures.reasonOf(failure);
    }

    /** When the name wants to be called next because of it. */
    long next(long now) {
        if (isHeld()) {
            long next = LeaseTime.earlier(lease().deadline(), lingersUntil);
            next = underWay == null ? LeaseTime.earlier(next, downgradeDue) : next;
            return underWay == null && terms.renew() ? LeaseTime.earlier(next, renewal.next(now)) : next;
        }
        return underWay != null || awaitsPredecessor() ? LeaseTime.NEVER : due;
    }

    // --- asked for ----------------------------------------------------------------------------------------------

    /** {@return who has the lock, and what is left of the lease; null if no answer tells} */
    Waiter.@Nullable Refused refusal(Moment now) {
        Taken newest = taken;
        String holderId = newest == null ? null : newest.reply.holderId();
        return newest == null || holderId == null ? null : new Waiter.Refused(0, holderId, newest.left(now));
    }

    /** Asks again now, or as soon as the request under way is answered. */
    void askSoon(Moment now) {
        asksAgain = true;
        due = life == Life.ASKED_FOR ? now.nanos() : due;
    }

    /** It is queued. The next poll is due after an interval, or when a lease ends: waiters before it may have died. */
    void queued(Reply.Queued reply, Moment askedAt, boolean notified, Moment now) {
        place = new Place(askedAt, reply.grantNumber());
        failing = null;
        long pause;
        if (notified) {
            // The first poll comes early by chance, so that waiters that began together do not poll together.
            long interval = context.pollInterval(terms);
            pause = backoff == FIRST_POLL ? context.jittered(interval) : interval;
            backoff = 0;
        } else {
            pause = nextPause();
        }
        long expiry = TimeUnit.MILLISECONDS.toNanos(reply.leftMillis() + reply.position());
        due = now.nanos() + (asksAgain ? 0 : Math.min(pause, Math.max(expiry, context.minRetryInterval())));
    }

    /** Whether the store may have it in the queue. Not asked of an id that is held. */
    boolean mayBeQueued() {
        return place != null || underWay != null && underWay.enqueues();
    }

    /** It is not queued, so no message comes. */
    void busy(boolean enqueued, Moment now) {
        failing = null;
        mayBeKnown &= enqueued;
        due = now.nanos() + (enqueued ? nextPause() : 0);
    }

    /** No message can come, so it asks again soon, and then less and less often. */
    void askLater(Moment now) {
        due = now.nanos() + nextPause();
    }

    private long nextPause() {
        backoff = Math.min(Math.max(2 * backoff, context.minRetryInterval()), context.pollInterval(terms));
        return context.jittered(backoff);
    }

    /** A message has come. A grant is kept until an answer shows whether it is new. */
    void messaged(Push push, boolean whileOthersWait, Moment now) {
        messaged = true;
        if (push.isHint()) {
            othersWait |= whileOthersWait;
            askSoon(now); // its grant is on its way or was missed, or the lock becomes free earlier
        } else {
            earlyGrant = push;
        }
    }

    /** Whether no message has come, although it was queued: the store sends one with the grant. */
    boolean hasMissedMessage() {
        return place != null && !messaged;
    }

    /**
     * Takes the grant of a message if it is newer than the newest answer. Its lease counts from when the command of
     * that answer was sent.
     */
    void takeEarlyGrant(Moment now) {
        Push grant = earlyGrant;
        Place known = place;
        if (life != Life.ASKED_FOR || grant == null || known == null) {
            return;
        }
        earlyGrant = null;
        if (grant.grantNumber() > known.newestGrant) {
            boolean mayCount = terms.renew() && !client.acknowledges();
            if (mayCount && LeaseTime.of(grant.leaseMillis(), known.askedAt).isWorthSharing(now.nanos())) {
                granted(grant.grantNumber(), grant.token(), grant.leaseMillis(), known.askedAt, now);
                pushed = true;
                othersWait |= grant.waiters() > 0;
            } else {
                askSoon(now);
            }
        }
    }

    // --- held ---------------------------------------------------------------------------------------------------

    void granted(long number, long token, long leaseMillis, Moment since, Moment now) {
        life = Life.HELD;
        failing = null;
        backoff = 0;
        grantNumber = number;
        firstToken = transfer == null ? token : transfer.token();
        lastToken = firstToken - 1;
        keptUntil = now.nanos();
        lease = LeaseTime.of(leaseMillis, since);
        renewal.begin(now.nanos());
    }

    /** A renewed lease never ends earlier. */
    void prolong(long leaseMillis, Moment since) {
        LeaseTime renewed = LeaseTime.of(leaseMillis, since);
        if (renewed.deadline() - lease().deadline() >= 0) {
            lease = renewed;
        }
    }

    boolean isHeld() {
        return life == Life.HELD;
    }

    boolean wasHeld() {
        return lease != null;
    }

    boolean wasUsed() {
        return wasHeld() && lastToken >= firstToken;
    }

    /** Read without the mutex. */
    LeaseTime lease() {
        return Objects.requireNonNull(lease);
    }

    /** Whether its lease has expired by the time of day only. Read without the mutex. */
    boolean isExpiredByWallClock(Moment now) {
        LeaseTime known = lease;
        return known != null && known.at(now) == LeaseTime.State.EXPIRED_BY_WALL_CLOCK;
    }

    /** The last token of its holds, for the store to continue from; 0 for readers, who have no tokens of their own. */
    long lastToken() {
        long last = transfer == null ? lastToken : Math.max(lastToken, transfer.token());
        return terms.kind() == LockKind.SHARED ? 0 : last;
    }

    private Held held() {
        return new Held(text, grantNumber, lastToken());
    }

    /** How the next hold comes about. */
    Origin nextOrigin() {
        return wasUsed() ? Origin.LOCAL : pushed ? Origin.GRANTED : Origin.ASKED;
    }

    /** The token for the next hold. Readers share one. */
    long nextToken() {
        lastToken = terms.kind() == LockKind.SHARED ? firstToken : lastToken + 1;
        passesLeft -= passesLeft > 0 ? 1 : 0;
        return lastToken;
    }

    /** Whether it has had a hold, and nothing limits yet how often it is passed on. */
    boolean hasNoPassLimit() {
        return isHeld() && wasUsed() && passesLeft == NO_LIMIT;
    }

    void limitPasses(int left) {
        passesLeft = left;
    }

    /** Whether it can serve a waiter on these terms now: as the first of its grant, or because it may be passed on. */
    boolean canServe(Terms wanted, Moment now) {
        return isHeld()
                && wanted.equals(terms)
                && (terms.kind() == LockKind.SHARED || holds == 0)
                && lease().at(now) == LeaseTime.State.RUNNING
                && (!wasUsed() || canServeAnother(now));
    }

    /**
     * Whether another hold may begin under its grant, rather than under a new one. A lease that is not renewed is not
     * passed on: the next holder is promised a whole one.
     */
    private boolean canServeAnother(Moment now) {
        return terms.renew()
                && !downgraded
                && leftTo == null
                && passesLeft != 0
                && keptFor(now.nanos()) <= 0
                && lease().isWorthSharing(now.nanos())
                && (terms.kind() == LockKind.SHARED
                        || lastToken - firstToken < terms.kind().tokens() - 1);
    }

    /** Stays without a hold for a while, for a caller that comes back. {@return false if it does not} */
    boolean linger(Moment now) {
        if (terms.lingerNanos() == 0
                || transfer != null
                || passesLeft != NO_LIMIT
                || othersWait
                || isExpiredByWallClock(now)
                || !canServeAnother(now)) {
            return false;
        }
        lingersUntil = lingersUntil == LeaseTime.NEVER ? now.nanos() + terms.lingerNanos() : lingersUntil;
        return !LeaseTime.hasCome(lingersUntil, now.nanos());
    }

    /** The lock is to stay taken until then, even if its holds end earlier. */
    void keepUntil(long nanoTime) {
        keptUntil = LeaseTime.later(keptUntil, nanoTime);
    }

    /** For how long the lock is to stay taken once no hold is left; zero or less if it is not. */
    long keptFor(long now) {
        return wasHeld() ? keptUntil - now : 0;
    }

    void downgrade(Moment now) {
        downgraded = true;
        downgradeDue = now.nanos();
    }

    void repeatDowngrade(Moment now) {
        downgradeDue = now.nanos() + nextPause();
    }

    // --- ending -------------------------------------------------------------------------------------------------

    /** @param known whether the store may know it, so that a release has to be sent */
    void end(boolean known, Moment now) {
        endedAt = life == Life.ENDING ? endedAt : now;
        life = Life.ENDING;
        mayBeKnown &= known;
        due = now.nanos();
        backoff = 0;
    }

    /** The release is repeated: at once, and then less and less often. */
    void repeatRelease(Moment now) {
        leftTo = null;
        repeated = true;
        due = now.nanos() + context.jittered(backoff);
        backoff = Math.min(Math.max(2 * backoff, context.minRetryInterval()), context.poll());
    }

    /** Whether a late copy of its predecessor's release could still queue it, after its own release. */
    boolean awaitsPredecessor() {
        return life == Life.ENDING && predecessor != null && predecessor.life != Life.ENDED;
    }

    /** The store has a grant for an id that has ended here, or was unknown. Its release is sent, or sent again. */
    void mustReleaseAgain(long token, Moment now) {
        end(true, now);
        mayBeKnown = true;
        lastToken = Math.max(lastToken, token);
        keptUntil = now.nanos();
        lease = lease == null ? LeaseTime.of(0, now) : lease;
    }

    /**
     * A command that is under way, for one id, or for several that share it. An id has one at a time.
     *
     * @param ids what it is about: permits are renewed together, and a release may queue the next id in the same step
     * @param sentAt when it was sent: a lease that its answer grants counts from then
     * @param epoch the epoch of the client, by which it knows whether the command may have been sent twice
     * @param enqueues whether an acquisition queues its id if the lock is not free
     * @param extension what the caller of an extension waits for
     */
    record Command(
            Verb verb,
            List<Id> ids,
            Moment sentAt,
            long epoch,
            boolean enqueues,
            @Nullable Extension extension) {

        enum Verb {
            /** Asks for the lock, polls, or takes over a hold. */
            ACQUIRE,
            RENEW,
            DOWNGRADE,
            /** Releases the lock, keeps it, leaves it to another process, or leaves the queue. */
            RELEASE
        }

        /** A lease that its holder wants to be longer. */
        record Extension(long millis, CompletableFuture<Reply> answer) {}

        private Id id() {
            return ids.get(0);
        }

        /** {@return the id that a release queues} */
        @Nullable
        Id next() {
            return verb == Verb.RELEASE && ids.size() > 1 ? ids.get(1) : null;
        }

        /** {@return the part of the reply that is about this id; null if there is none} */
        @Nullable
        Reply replyFor(Id one, @Nullable Reply reply) {
            if (!(reply instanceof Reply.All all)) {
                return reply;
            }
            int index = ids.indexOf(one);
            return index < all.replies().size() ? all.replies().get(index) : null;
        }

        /**
         * {@return what came of a release of this id}
         *
         * <p>NOT_HOLDER is not always a loss. If the command may have been sent twice, its first copy may have released
         * the lock. After the deadline, by either clock, the command may only have come late, unless the lease had
         * already expired by the wall clock when the id ended.
         */
        Release outcomeOf(Id one, @Nullable Reply reply, LockStore.Client client, Moment now) {
            if (reply != Reply.Plain.NOT_HOLDER || !one.wasHeld() || client.mayHaveRepeatedSince(epoch)) {
                return Release.RELEASED;
            }
            State state = one.lease().at(now);
            Moment endedAt = Objects.requireNonNull(one.endedAt);
            boolean ranBefore = one.lease().at(endedAt) == State.RUNNING;
            boolean mayBeLate = state == State.OVER || state == State.EXPIRED_BY_WALL_CLOCK && ranBefore;
            return mayBeLate ? Release.RELEASED : Release.LOST;
        }

        /**
         * Sends it. What the store throws is a failure like any other: the command may have been sent.
         *
         * @param late gets the reply to a renewal if it comes after the future has failed
         */
        CompletableFuture<Reply> sendTo(LockStore store, String name, Consumer<Reply> late) {
            try {
                return switch (verb) {
                    case ACQUIRE -> acquire(store, name);
                    case RENEW -> renew(store, name, late);
                    case DOWNGRADE -> downgrade(store, name);
                    case RELEASE -> release(store, name);
                };
            } catch (Throwable thrown) {
                return CompletableFuture.failedFuture(thrown);
            }
        }

        private CompletableFuture<Reply> acquire(LockStore store, String name) {
            Id id = id();
            Transfer from = id.transfer;
            Held held = from == null ? null : new Held(from.id(), from.grantNumber(), from.token());
            return store.acquire(name, id.text, id.terms, enqueues, held);
        }

        private CompletableFuture<Reply> downgrade(LockStore store, String name) {
            Id id = id();
            Terms shared = Terms.shared(id.terms.ttlMillis(), id.terms.renew());
            return store.acquire(name, id.text, shared, false, id.held());
        }

        private CompletableFuture<Reply> renew(LockStore store, String name, Consumer<Reply> late) {
            List<Grant> grants = ids.stream()
                    .map(id -> new Grant(
                            id.text, id.grantNumber, extension == null ? id.terms.ttlMillis() : extension.millis))
                    .toList();
            return store.renew(name, grants, late);
        }

        private CompletableFuture<Reply> release(LockStore store, String name) {
            Id id = id();
            Id queued = next();
            long kept = id.keptFor(sentAt.nanos());
            LockStore.Next next = null;
            if (queued != null) {
                next = new LockStore.Next.Queued(queued.text, queued.terms);
            } else if (id.leftTo != null) {
                return store.acquire(name, id.leftTo.id(), id.terms, false, id.held());
            } else if (kept > 0) {
                // Both clocks cut off what is less than a millisecond.
                next = new LockStore.Next.Kept(id.grantNumber, TimeUnit.NANOSECONDS.toMillis(kept) + 2);
            }
            return store.release(name, id.text, id.lastToken(), next);
        }
    }

    /**
     * When the lease of an id is renewed. Guarded by the mutex of its name.
     *
     * <p>A renewal is due by time when a third of the lease has passed since it began, or since the newest renewal was
     * sent. An extra one is due earlier, in its turn: after a failure, or because another has perhaps changed the lock.
     * One without an answer is not repeated early on the same connection, where a copy would be answered later still.
     *
     * <p>A store that announces changes watches an exclusive or shared lock from its first renewal on, which is
     * therefore due a second after the grant. Only the answer to a renewal that was sent after a change shows whether
     * the lock is lost. Others also change a lock by waiting for it, and readers by each renewal. So a change makes an
     * extra renewal at once, but not again before a pause has passed: the interval in which a waiter asks for an
     * exclusive lock, a third of the lease for a shared one.
     */
    @SuppressWarnings("ReferenceEquality") // moments and places are known by identity
    static final class Renewal {

        /** What is known of changes of the lock by others. */
        private enum Watch {
            /** The store does not watch the lock: no renewal has been answered. */
            UNWATCHED,
            /** The answer to the newest renewal is newer than all announced changes. */
            UNCHANGED,
            /** The lock has perhaps been changed since the newest renewal was sent. */
            CHANGED,
            /** The lock had perhaps been changed when the newest renewal was sent, which has not been answered. */
            CHECKED
        }

        private static final long UNWATCHED_NANOS = 1_000_000_000;

        private final Id id;
        private final EngineContext context;
        private final LockStore.Client client;
        private Watch watch = Watch.UNWATCHED;

        /** When the newest renewal was sent. */
        private @Nullable Moment sentAt;

        private long epoch;
        private long watchedFrom;

        /** Until then a change makes no extra renewal. */
        private long pausesUntil;

        /** When the newest renewal is repeated because it has failed; NEVER if it has not failed. */
        private long repeatedAt = LeaseTime.NEVER;

        /** Whether the renewal that has failed may still be answered. */
        private boolean silent;

        /** Its place in the line of extra renewals. */
        private Agenda.@Nullable Entry place;

        /** Whether its turn has come. */
        private boolean turn;

        Renewal(Id id, EngineContext context, LockStore.Client client) {
            this.id = id;
            this.context = context;
            this.client = client;
        }

        // --- facts --------------------------------------------------------------------------------------------------

        void begin(long now) {
            watchedFrom = together(now + UNWATCHED_NANOS, UNWATCHED_NANOS / 10);
            pausesUntil = now;
        }

        void sent(Moment now) {
            if (watch == Watch.CHANGED || watch == Watch.CHECKED) {
                watch = Watch.CHECKED;
                boolean exclusive = id.terms.kind() == LockKind.EXCLUSIVE;
                pausesUntil =
                        now.nanos() + (exclusive ? context.poll() : id.lease().third());
            }
            sentAt = now;
            epoch = client.epoch();
            repeatedAt = LeaseTime.NEVER;
        }

        /** The renewal that was sent then is answered, perhaps late. */
        void answered(Moment then) {
            if (sentAt == then) {
                repeatedAt = LeaseTime.NEVER;
                watch = watch == Watch.CHANGED ? watch : Watch.UNCHANGED;
            }
        }

        /** @param silently whether it may still be answered */
        void failed(boolean silently, long now) {
            silent = silently;
            boolean mayBeLost = watch == Watch.CHANGED || watch == Watch.CHECKED || isUnwatched();
            repeatedAt = now + (mayBeLost ? soon() : id.lease().tenth());
        }

        /** Another has perhaps changed the lock. */
        void changed() {
            if (sentAt != null && isWatchable()) {
                watch = Watch.CHANGED;
            }
        }

        /** The lease has run out by the time of day, and its holder no longer relies on it: the store can tell. */
        void expiredByWallClock(long now) {
            if (repeatedAt == LeaseTime.NEVER && place == null && !LeaseTime.hasCome(due(now), now + soon())) {
                watch = Watch.CHANGED;
                pausesUntil = now;
            }
        }

        // --- what they ask for --------------------------------------------------------------------------------------

        /** When the next renewal is due: by time, or an extra one. */
        long due(long now) {
            long extra = LeaseTime.NEVER;
            if (repeatedAt != LeaseTime.NEVER) {
                boolean notYet = LeaseTime.hasCome(repeatedAt, now) && !mayRepeat(now);
                extra = notYet ? now + id.lease().tenth() : repeatedAt;
            } else if (watch == Watch.CHANGED) {
                extra = pausesUntil;
            } else if (isUnwatched()) {
                extra = watchedFrom;
            }
            return LeaseTime.earlier(extra, byTime());
        }

        /** When the name wants to be called because of it. One that is due waits for its turn, or nobody needs it. */
        long next(long now) {
            long next = place == null ? due(now) : byTime();
            return LeaseTime.hasCome(next, now) ? LeaseTime.NEVER : next;
        }

        /** Whether the one that is due has to wait for its turn. */
        boolean isExtra(long now) {
            boolean early = repeatedAt != LeaseTime.NEVER || watch == Watch.CHANGED;
            return early && !turn && !LeaseTime.hasCome(byTime(), now);
        }

        /** Whether it may be sent now, by the command that renews another lease of the lock. */
        boolean mayJoin(long now) {
            return repeatedAt == LeaseTime.NEVER || mayRepeat(now);
        }

        private boolean mayRepeat(long now) {
            return !silent || client.mayHaveRepeatedSince(epoch) || LeaseTime.hasCome(byTime(), now);
        }

        private long byTime() {
            LeaseTime lease = id.lease();
            long from = sentAt == null ? lease.began() : LeaseTime.later(lease.began(), sentAt.nanos());
            return together(from + lease.third(), lease.third());
        }

        /** A little earlier: renewals that are due at about the same time are sent together. */
        private long together(long time, long atMostEarlier) {
            return time - Math.floorMod(time, Math.min(id.lease().tolerance(), atMostEarlier));
        }

        private long soon() {
            return Math.min(id.lease().tenth(), context.poll());
        }

        /** Permits are not watched: every command of another holder changes the lock. */
        private boolean isWatchable() {
            return id.terms.kind() != LockKind.LIMITED && client.announcesChanges();
        }

        private boolean isUnwatched() {
            return watch == Watch.UNWATCHED && isWatchable();
        }

        // --- its turn among the extra ones --------------------------------------------------------------------------

        void join(Agenda agenda, Agenda.Called called) {
            place = place == null ? agenda.join(called, id.lease().deadline()) : place;
        }

        /** Its turn has come, unless it has left the line meanwhile. */
        void take(Agenda agenda, Agenda.Entry called) {
            if (place == called) {
                place = null;
                turn = true;
            } else {
                agenda.endTurn();
            }
        }

        boolean hasTurn() {
            return turn;
        }

        void leave(Agenda agenda) {
            agenda.leave(place);
            place = null;
            if (turn) {
                turn = false;
                agenda.endTurn();
            }
        }
    }
}
