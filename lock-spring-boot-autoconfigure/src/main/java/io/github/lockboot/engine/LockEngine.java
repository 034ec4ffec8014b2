package io.github.lockboot.engine;

import java.time.Duration;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.lockboot.Lease;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.engine.GrantChannel.Push;
import io.github.lockboot.engine.LeaseTime.Moment;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.LockRequest.Transfer;
import io.github.lockboot.engine.LockStore.Grant;
import io.github.lockboot.engine.StoreFailure.GrantedTooLateException;
import io.github.lockboot.engine.StoreFailure.NotAcknowledgedException;
import io.github.lockboot.internal.Failures;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.HeldByThread;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.LockOrder;
import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/**
 * All locks of one registry: what is under way by name and by id, what messages do, and the shutdown.
 *
 * <h2>Two ways in</h2>
 *
 * <pre>
 *   a call      EngineLock   -> LockEngine.acquire -> Name.enter   -> settle() -> LockStore
 *   a message   GrantChannel -> LockEngine.onPush  -> Name.receive -> settle() -> Waiter.wake
 * </pre>
 *
 * A call finds the {@link Name} by its kind, and makes it if there is none. A message finds the {@link Id} that it
 * names, and with it the name. If no such id is under way here, the store still has an id that has ended, and gets its
 * release.
 *
 * <h2>What is kept, and for how long</h2>
 *
 * <ul>
 *   <li>A name is kept while a caller waits for it, or an id of it is kept. Its last change retires it under its own
 *       mutex, so a caller that has found it before enters the next one.
 *   <li>An id is kept until the store has answered its release. A release without an answer is repeated; beyond
 *       {@value #MOST_REPEATED} at once, ids are left to expire.
 * </ul>
 *
 * <h2>Once a second</h2>
 *
 * As long as there is anything under way, it is checked once a second: whether a lease has expired by the wall clock,
 * which goes on while the machine sleeps, whether an answer was lost, whether a caller ended before it claimed its
 * hold, and whether something was thrown in the middle of a change. While none of this happens, nothing depends on the
 * check.
 */
public final class LockEngine implements GrantChannel.Subscriber, AutoCloseable {

    // After the name of the store.
    public static final String NO_ANSWER =
            " did not answer or refused: check the cause, and lock.redis.command-timeout";

    static final String NOT_ACKNOWLEDGED =
            " granted the lock, which was released because the grant was not acknowledged:"
                    + " check the cause, and lock.redis.acknowledge";

    static final String TOO_LATE =
            " granted the lock, but too late: check what delays it or this process, or raise the ttl";

    static final String CLOSING = "the registry is closing";

    /** The engines of this process that have not been closed. */
    private static final Set<LockEngine> OPEN =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    /** How long connecting ahead waits for an attempt that neither succeeds nor fails. */
    private static final long CONNECT_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** Beyond this many at once, the ids whose releases are not answered are left to expire. */
    private static final int MOST_REPEATED = 1_000;

    private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long DRAIN_CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final EngineContext context;
    final LockStore store;
    private final GrantChannel channel;
    private final Supplier<String> session;
    private final Supplier<String> nonce;
    private final AtomicLong sequence = new AtomicLong();
    private final AtomicLong newestToken = new AtomicLong();
    private final AtomicInteger repeated = new AtomicInteger();
    final Agenda agenda;

    /** Null without a listener: no call pays for what nobody listens to. */
    private volatile @Nullable ListenerRegistry listeners;

    private final Timer.Check onceASecond;
    private final Map<LockKind, Map<String, Name>> names = new EnumMap<>(LockKind.class);

    /** The names of holds that were taken over. Other callers do not wait for them, but for the name of the kind. */
    private final Set<Name> transferred = ConcurrentHashMap.newKeySet();

    /** The name of each id that is under way. */
    private final Map<String, Name> namesById = new ConcurrentHashMap<>();

    /** Completes with the first subscription or, while connecting ahead, with the next. */
    private volatile CompletableFuture<Void> subscribed = new CompletableFuture<>();

    /**
     * @param session begins each id, and names the channel of this registry
     * @param nonce ends an id, so that it is hard to guess
     * @param channelFactory makes the channel for the engine that gets its pushes
     */
    public LockEngine(
            EngineContext context,
            Supplier<String> session,
            Supplier<String> nonce,
            LockStore store,
            Function<GrantChannel.Subscriber, GrantChannel> channelFactory) {
        this.context = context;
        this.store = store;
        this.channel = channelFactory.apply(this);
        this.session = session;
        this.nonce = nonce;
        this.agenda = new Agenda(context);
        for (LockKind kind : LockKind.values()) {
            names.put(kind, new ConcurrentHashMap<>());
        }
        context.whenClosed(() -> subscribed.complete(null));
        this.onceASecond = context.timer().check(CHECK_NANOS, this::check);
        OPEN.add(this);
    }

    public EngineContext context() {
        return context;
    }

    public GrantChannel channel() {
        return channel;
    }

    /**
     * Acquires, renews and releases a lock, of which no listener is notified, and opens the channel ahead of the first
     * wait. Waits for an attempt to connect that is under way, and for the first answer.
     *
     * @return completes once all is done, or after a second without the channel
     */
    public CompletableFuture<Void> connect(String name) {
        long untilAnswered = TimeUnit.NANOSECONDS.toMillis(CONNECT_NANOS + 3 * context.commandTimeout());
        Terms brief = Terms.exclusive(untilAnswered, true); // the time of connecting is a part of the lease
        LockRequest request = new LockRequest(name, null, brief, CONNECT_NANOS, 0, true, false, LockRequest.ANY_NUMBER);
        EngineContext.requireStack();
        if (!channel.isLive() && subscribed.isDone()) {
            subscribed = new CompletableFuture<>();
        }
        CompletableFuture<Void> live = subscribed;
        FutureWaiter waiter = new FutureWaiter(context, request, null, null);
        waiter.setLastCall();
        waiter.setTrial();
        CompletableFuture<Lease> taken = start(waiter);
        taken.whenComplete((lease, failure) ->
                Failures.runAndLog("when the channel was opened", channel::reopen)); // tries until the store is there
        CompletableFuture<Void> connected = taken.thenCompose(lease -> {
            context.schedule(CHECK_NANOS, () -> live.complete(null));
            return CompletableFuture.allOf(renewAndRelease(Hold.of(lease)), live);
        });
        // A future of its own: a caller that cancels it does not keep the lock from being released. Its dependents may
        // block.
        return connected.thenApplyAsync(none -> none, context::runLater);
    }

    /**
     * Runs the action on a worker when messages arrive for the first time, or again after connecting has failed, unless
     * the engine is closing by then.
     */
    public void whenSubscribed(Runnable mayBlock) {
        subscribed.thenRunAsync(
                () -> {
                    if (!context.isClosing()) {
                        mayBlock.run();
                    }
                },
                context::runLater);
    }

    /** {@return fails with the error of the store if it refuses the renewal or the release} */
    private CompletableFuture<Reply> renewAndRelease(Hold hold) {
        String id = hold.acquisitionId();
        Grant grant = new Grant(id, hold.id().grantNumber, hold.id().terms.ttlMillis());
        CompletableFuture<Reply> renewed = store.renew(hold.name(), List.of(grant), late -> {});
        return renewed.handle((none, failure) -> hold.closeAfter(Duration.ZERO))
                .thenCompose(Function.identity())
                .thenCompose(none -> renewed)
                // Once more, because a hold does not tell why its release was not answered.
                .thenCompose(none -> store.release(hold.name(), id, hold.fencingToken(), null));
    }

    /** @param registry whose locks these are */
    synchronized void addListener(LockRegistry registry, LockListener listener) {
        ListenerRegistry made = listeners == null ? new ListenerRegistry(context, registry) : listeners;
        made.add(listener);
        listeners = made;
    }

    boolean hasListeners() {
        return listeners != null;
    }

    /**
     * @param thread the thread that will have the hold; null for a lease
     * @return what notifies the listeners; null if there are none
     */
    private @Nullable UseNotifier requested(LockRequest request, @Nullable Thread thread) {
        ListenerRegistry present = listeners;
        return present == null ? null : present.requested(request, thread);
    }

    // --- calls ------------------------------------------------------------------------------------------------

    /**
     * Acquires the lock for the current thread, or waits for it.
     *
     * @param interruptible whether an interrupt ends the wait; if not, the flag is set again
     * @return null if the thread has the lock now; else the waiter, which was refused
     * @throws LockUnavailableException if the store could not be asked
     * @throws InterruptedException if interrupted while it waited; it has no lock then
     */
    @Nullable
    Waiter acquire(LockRequest request, boolean interruptible) throws InterruptedException {
        EngineContext.requireStack();
        @Nullable UseNotifier use = requested(request, Thread.currentThread());
        ThreadWaiter waiter = checkAndEnter(new ThreadWaiter(context, request, use));
        return await(waiter, interruptible) ? null : waiter;
    }

    private static boolean await(ThreadWaiter waiter, boolean interruptible) throws InterruptedException {
        try {
            return waiter.await(interruptible);
        } catch (Throwable thrown) {
            waiter.withdraw();
            throw thrown;
        }
    }

    /** As {@link io.github.lockboot.LockScope.OfLock#attempt}, by a thread that does not hold the lock. */
    Callable<@Nullable Lease> attempt(LockRequest request, boolean interruptible) {
        EngineContext.requireStack();
        @Nullable UseNotifier use = requested(request, Thread.currentThread());
        ThreadWaiter waiter = new ThreadWaiter(context, request, use);
        Callable<@Nullable Lease> answer = () -> {
            if (!await(waiter, interruptible)) {
                throw waiter.refusal();
            }
            return null;
        };
        checkAndEnter(waiter);
        return answer;
    }

    /** As {@link #acquire} for a lease that belongs to no thread; cancelling the future ends the wait. */
    public CompletableFuture<Lease> acquireAsync(LockRequest request) {
        EngineContext.requireStack();
        return start(new FutureWaiter(context, request, requested(request, null), null));
    }

    /** Takes over a hold that another engine, or this one, has left to it; cancelling the future releases the lock. */
    CompletableFuture<Lease> takeOver(LockRequest request, Transfer transfer) {
        EngineContext.requireStack();
        return start(new FutureWaiter(context, request, requested(request, null), transfer));
    }

    private CompletableFuture<Lease> start(FutureWaiter waiter) {
        CompletableFuture<Lease> future = waiter.future();
        checkAndEnter(waiter);
        try {
            waiter.start(future);
            return future;
        } catch (Throwable thrown) { // the caller has no future that would ever tell
            waiter.withdraw();
            throw thrown;
        }
    }

    private <W extends Waiter> W checkAndEnter(W waiter) {
        try {
            if (waiter.thread() != null && !waiter.request().triesOnce() && HeldByThread.any()) {
                Failures.runAndLog("when the order of locks was checked", () -> checkOrder(waiter));
            }
            enter(waiter);
            return waiter;
        } catch (Throwable thrown) {
            waiter.withdraw();
            throw thrown;
        }
    }

    private void checkOrder(Waiter waiter) {
        LockOrder.Node wanted = waiter.request().node();
        LockOrder.OF_PROCESS.check(wanted, (held, here, there) -> {
            context.log().bothOrders(held, wanted, here, there);
            waiter.report(UseNotifier::bothOrders);
        });
    }

    private void enter(Waiter waiter) {
        try {
            Name name;
            do {
                name = nameFor(waiter);
            } while (!name.enter(waiter));
        } finally {
            onceASecond.start(); // not before: there must be something to check
        }
    }

    private Name nameFor(Waiter waiter) {
        String name = waiter.request().name();
        LockKind kind = waiter.request().terms().kind();
        if (waiter.transfer() != null) {
            Name own = new Name(name, kind, this);
            transferred.add(own);
            return own;
        }
        return nameFor(kind, name);
    }

    private Name nameFor(LockKind kind, String name) {
        Map<String, Name> ofKind = names(kind);
        Name known = ofKind.get(name);
        return known != null ? known : ofKind.computeIfAbsent(name, n -> new Name(n, kind, this));
    }

    /** Called when nothing is under way for the name, with its mutex held. */
    void retire(LockKind kind, Name name) {
        if (!names(kind).remove(name.toString(), name)) {
            transferred.remove(name);
        }
    }

    private Map<String, Name> names(LockKind kind) {
        return Objects.requireNonNull(names.get(kind));
    }

    /** Of all kinds. */
    private Stream<Name> names(String name) {
        return Stream.concat(
                names.values().stream().map(ofKind -> ofKind.get(name)).filter(Objects::nonNull),
                transferred.stream().filter(other -> other.toString().equals(name)));
    }

    Stream<Name> names() {
        return Stream.concat(names.values().stream().flatMap(ofKind -> ofKind.values().stream()), transferred.stream());
    }

    /**
     * Ends the hold of this id, or its place in the queue. The store gives the lock or the place away then.
     *
     * @param reason without the name of the lock
     * @return false if this engine does not know the id
     */
    public boolean revoke(String id, String reason) {
        Name known = namesById.get(id);
        if (known != null) {
            known.revoke(id, reason);
        }
        return known != null;
    }

    /** As {@link #revoke}, whichever engine of this process has the id. */
    public static boolean revokeInProcess(String id, String reason) {
        List<LockEngine> open;
        synchronized (OPEN) {
            open = List.copyOf(OPEN);
        }
        return open.stream().filter(engine -> engine.revoke(id, reason)).count() > 0;
    }

    // --- ids --------------------------------------------------------------------------------------------------

    /**
     * {@return a new id, {@code <session>-<sequence>.<nonce>}} A user who can list channels knows the session; the
     * nonce keeps that user from guessing the id of a waiter and forging its grant.
     */
    String nextId() {
        return session.get() + "-" + sequence.incrementAndGet() + nonce.get();
    }

    boolean isOurs(String id) {
        return id.startsWith(session.get() + "-");
    }

    void register(String id, Name name) {
        namesById.put(id, name);
        onceASecond.start();
    }

    void deregister(String id, Name name) {
        namesById.remove(id, name);
    }

    /** Whether the release of another id may be repeated until it is answered. */
    boolean mayRepeatAnother() {
        return repeated.get() < MOST_REPEATED;
    }

    void countRepeated(int more) {
        repeated.addAndGet(more);
    }

    /** Remembers the largest token used by this registry. */
    void noteToken(long token) {
        if (token > newestToken.get()) {
            newestToken.accumulateAndGet(token, Math::max);
        }
    }

    /** The outcome of a wait during which the store could not be asked, or could not grant the lock. */
    Waiter.Failure noAnswer(@Nullable Throwable cause) {
        boolean tooLate = cause instanceof GrantedTooLateException;
        String reason = cause instanceof NotAcknowledgedException ? NOT_ACKNOWLEDGED : tooLate ? TOO_LATE : NO_ANSWER;
        boolean notNow = tooLate || store.client().failureOf(cause) == StoreFailure.NOT_NOW;
        return new Waiter.Failure(store.displayName() + reason, cause, notNow);
    }

    // --- the channel: without it, only time is lost ------------------------------------------------------------

    /** Whether a grant would be pushed. */
    boolean isNotified() {
        return channel.isLive();
    }

    void openChannel() {
        Failures.runAndLog("when the channel was opened", channel::open);
    }

    /** Called when there is reason to doubt that messages arrive. */
    void verifyChannel() {
        Failures.runAndLog("when the channel was verified", channel::verify);
    }

    // --- look-ups ---------------------------------------------------------------------------------------------

    /** The name of a lock that is in use, if any. */
    @Nullable
    Name name(LockKind kind, String name) {
        return names(kind).get(name);
    }

    /**
     * The thread's hold of the lock in this kind, even if its lease may have run out, or if it was acquired exclusively
     * and is shared now.
     */
    @Nullable
    Hold heldBy(Thread thread, String name, LockKind kind) {
        return heldBy(thread, name(kind, name));
    }

    private static @Nullable Hold heldBy(Thread thread, @Nullable Name name) {
        return name == null ? null : name.heldBy(thread);
    }

    /**
     * Refuses a thread that would wait for itself.
     *
     * @throws IllegalStateException if the thread holds the lock as another kind
     */
    void requireNotHeldOtherwise(Thread thread, LockRequest request) {
        for (Map<String, Name> others : names.values()) {
            if (others != names(request.terms().kind()) && !others.isEmpty()) {
                Name name = others.get(request.name());
                Hold hold = heldBy(thread, name);
                if (hold != null && hold.lease() != LeaseTime.State.OVER) {
                    throw wouldWaitForItself(thread, request, hold);
                } else if (name != null && hold != null) {
                    name.settleNow();
                }
            }
        }
    }

    /** Whether the hold is shared, or an exclusive hold of which only the read side is left. */
    static boolean onlyReads(Hold hold) {
        return hold.count(LockKind.EXCLUSIVE) == 0 && hold.count(LockKind.SHARED) > 0;
    }

    static IllegalStateException wouldWaitForItself(Thread thread, LockRequest request, Hold hold) {
        boolean reads = onlyReads(hold);
        String message = "thread " + thread.getName() + " holds lock '" + LockNames.printable(request.name()) + "' "
                + (reads ? "as a reader" : hold.id().terms.kind().how()) + " and would wait for itself to hold it "
                + request.terms().kind().how() + "; release it first";
        return new IllegalStateException(
                reads && request.terms().kind() == LockKind.EXCLUSIVE
                        ? message + ", or begin with the write side, under which the read side may be acquired"
                        : message);
    }

    /** The newest hold that the current thread has lost and not released. */
    @Nullable
    Hold lostHere(String name) {
        return (Hold) HeldByThread.all()
                .filter(each -> each instanceof Hold hold && hold.isLostFrom(context, name))
                .findFirst()
                .orElse(null);
    }

    /**
     * {@return whether anybody holds the lock}
     *
     * @throws LockUnavailableException if the store could not be asked
     */
    public boolean isLocked(String name) {
        if (isHeldHere(name)) {
            return true;
        }
        Reply.Shown shown = show(name);
        return shown.isForeign() || !shown.holders().isEmpty();
    }

    /** {@return whether any hold of this engine is of the lock} Sends no command. */
    public boolean isHeldHere(String name) {
        return names(name).flatMap(each -> each.holds().stream()).anyMatch(Hold::isValid);
    }

    /**
     * {@return what the store has of the lock}
     *
     * @throws LockUnavailableException if the store could not be asked
     */
    public Reply.Shown show(String name) {
        EngineContext.requireStack();
        return (Reply.Shown) answer(name, store.show(name));
    }

    /**
     * Waits for the answer to a request about the lock with this name.
     *
     * @throws LockUnavailableException if there is none
     */
    public Reply answer(String name, CompletableFuture<Reply> asked) {
        Reply reply = context.awaitAnswer(asked);
        if (reply == null) {
            Throwable failure = asked.isDone()
                    ? asked.handle((none, thrown) -> thrown).join()
                    : store.client().whyUnanswered();
            Throwable cause = failure == null ? null : Futures.unwrap(failure);
            context.failed(store.displayName() + NO_ANSWER, cause);
            throw new LockUnavailableException(name, store.displayName() + NO_ANSWER, cause);
        }
        context.answered();
        return reply;
    }

    /**
     * The number of names in use and ids under way: zero once all is released. An id whose release is only repeated
     * until it is answered does not count.
     */
    public int inUse() {
        return (int) names().filter(Name::isInUse).count() + namesById.size() - repeated.get();
    }

    /** Whether nothing is in use and nothing will be. */
    public boolean isOver() {
        return context.isClosing() && inUse() == 0;
    }

    // --- messages ---------------------------------------------------------------------------------------------

    @Override
    public void onPush(Push push) {
        Name known = namesById.get(push.id());
        if (known != null) {
            known.receive(push);
            return;
        }
        String name = isOurs(push.id()) ? store.nameOf(push.key()) : null;
        if (name != null) {
            // The store has an id that has ended, by a late command or a failover: as a holder, or in the queue.
            nameFor(LockKind.EXCLUSIVE, name).releaseUnknownGrant(push.id(), newestToken.get());
        }
    }

    /**
     * Another has changed the lock with this key, or with null perhaps any lock: the holds of it are renewed soon,
     * which shows whether they are lost. It is a hint only. Does not block.
     */
    public void onChanged(@Nullable String key) {
        String name = key == null ? null : store.nameOf(key);
        if (key == null) {
            names().forEach(Name::changed);
        } else if (name != null) {
            names(name).forEach(Name::changed);
        }
    }

    @Override
    public boolean onAnswer(@Nullable Throwable failure) {
        if (failure == null) {
            context.answered();
        } else if (!context.isClosing()) {
            context.unanswered(store.displayName() + NO_ANSWER + " (" + Failures.reasonOf(failure) + ")");
        }
        return failure == null && !context.isOutage();
    }

    @Override
    public void onSubscribed() {
        context.answered();
        subscribed.complete(null);
        namesById.values().forEach(Name::mayHaveMissedMessage);
    }

    // --- once a second ----------------------------------------------------------------------------------------

    /**
     * Compares the leases with the time of day, because the monotonic clock may stand still while the machine sleeps,
     * looks for answers that were lost, and settles names in which something was thrown.
     *
     * @return whether anything is under way
     */
    private boolean check() {
        Moment now = context.now();
        Stream.concat(names(), namesById.values().stream()).distinct().forEach(name -> name.check(now));
        agenda.planNext();
        return !namesById.isEmpty() || names().findAny().isPresent();
    }

    // --- shutdown ---------------------------------------------------------------------------------------------

    /**
     * No new grants; waiters leave the queue in the store and fail. Holds stay until they are released.
     *
     * @return completes when the store has answered, or could not be asked
     */
    public CompletableFuture<Void> stopGranting() {
        context.stopGranting();
        return CompletableFuture.allOf(names().map(LockEngine::closed).toArray(CompletableFuture<?>[]::new));
    }

    /** An exception of one name does not keep the others open. */
    private static CompletableFuture<?> closed(Name name) {
        try {
            return name.close();
        } catch (Throwable thrown) {
            return CompletableFuture.failedFuture(thrown);
        }
    }

    /**
     * Waits until all holds are released.
     *
     * @return completes when the last is released in the store, when the time has passed, or when the engine is closed
     */
    public CompletableFuture<Void> drain(long atMostNanos) {
        CompletableFuture<Void> drained = new CompletableFuture<>();
        context.whenClosed(() -> drained.complete(null));
        checkDrained(drained, context.nanoTime() + atMostNanos);
        return drained;
    }

    private void checkDrained(CompletableFuture<Void> drained, long deadline) {
        boolean anythingLeft = !namesById.isEmpty();
        long left = deadline - context.nanoTime();
        if (!anythingLeft || left <= 0) {
            Failures.runAndLog("when the channel was closed", channel::close); // its client may be stopped next
            context.runLater(() -> drained.complete(null)); // what depends on it may block
        } else {
            context.schedule(Math.min(left, DRAIN_CHECK_NANOS), () -> checkDrained(drained, deadline));
        }
    }

    /** Leaves holds to their leases, for an engine that shares its timer and threads with others. */
    public void leaveHolds() {
        context.leaveHolds();
    }

    @Override
    public void close() {
        OPEN.remove(this);
        try {
            channel.close();
        } finally {
            context.close();
        }
    }
}
