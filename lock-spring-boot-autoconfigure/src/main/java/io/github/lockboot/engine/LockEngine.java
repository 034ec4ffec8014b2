package io.github.lockboot.engine;

import java.time.Duration;
import java.util.Collection;
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
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.lockboot.Lease;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.engine.Grant.LeaseState;
import io.github.lockboot.engine.Grant.Moment;
import io.github.lockboot.engine.GrantChannel.Push;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.LockRequest.Transfer;
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
 * All locks of one registry: what is under way by name and by id, what messages do, and the end of it all.
 *
 * <h2>Two ways in</h2>
 *
 * <pre>
 *   a call      EngineLock   -> LockEngine.acquire -> LocalQueue.enter  -> Acquisition -> LockStore
 *   a message   GrantChannel -> LockEngine.onPush  -> Acquisition       -> LocalQueue  -> Waiter.wake
 * </pre>
 *
 * A call finds the {@link LocalQueue} by kind and name, and makes it if there is none. A message finds the
 * {@link Acquisition} by the id that it names. If no such id is under way here, the store has granted the lock to an id
 * that has ended, and gets it back.
 *
 * <h2>What is kept, and for how long</h2>
 *
 * <ul>
 *   <li>A queue is kept while a waiter, a hold or a lock that lingers is in it. Its last change retires it under its
 *       own mutex, so a caller that has found it before enters the next queue of that name.
 *   <li>An acquisition is kept from its first request until the store has answered its end.
 *   <li>A command with an unknown outcome is repeated by {@link UnansweredCommands}, also after its queue has retired.
 * </ul>
 *
 * <h2>Once a second</h2>
 *
 * As long as there is anything under way, it is checked once a second: whether a lease has expired by the wall clock,
 * which goes on while the machine sleeps, and whether an action has thrown and could not clean up by itself. Where
 * neither happens, nothing depends on it.
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

    /** All of this process that are open, or have been left to the garbage collection. */
    private static final Set<LockEngine> OPEN =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    /** How long connecting ahead waits for an attempt that neither succeeds nor fails. */
    private static final long CONNECT_NANOS = TimeUnit.MINUTES.toNanos(1);

    private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long DRAIN_CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final EngineContext context;
    final LockStore store;
    private final GrantChannel channel;
    private final Supplier<String> session;
    private final Supplier<String> nonce;
    private final AtomicLong sequence = new AtomicLong();
    private final AtomicLong newestToken = new AtomicLong();
    final Renewer renewer;
    final UnansweredCommands unanswered;

    /** Null without a listener: no call pays for what nobody listens to. */
    private volatile @Nullable ListenerRegistry listeners;

    private final Timer.Check onceASecond;
    private final Map<LockKind, Map<String, LocalQueue>> queues = new EnumMap<>(LockKind.class);

    /**
     * Those of holds that were taken over. Nobody else waits in them: who wants the lock waits in the queue of the
     * name.
     */
    private final Set<LocalQueue> transferred = ConcurrentHashMap.newKeySet();

    private final Map<String, Acquisition> acquisitions = new ConcurrentHashMap<>();
    /** Of the first subscription or, while connecting ahead, of the next. */
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
        this.renewer = new Renewer(context, store);
        this.unanswered = new UnansweredCommands(context);
        for (LockKind kind : LockKind.values()) {
            queues.put(kind, new ConcurrentHashMap<>());
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
            return CompletableFuture.allOf(renewedAndReleased(Hold.of(lease)), live);
        });
        // A future of its own: who does not wait for it any more does not keep it from releasing the lock. What depends
        // on it may block.
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
    private CompletableFuture<Reply> renewedAndReleased(Hold hold) {
        String id = hold.acquisitionId();
        long ttlMillis = hold.grant().terms().ttlMillis();
        CompletableFuture<Reply> renewed =
                store.renew(hold.name(), id, hold.grant().grantNumber(), ttlMillis, late -> {});
        return renewed.handle((none, failure) -> hold.closeAfter(Duration.ZERO))
                .thenCompose(Function.identity())
                .thenCompose(none -> renewed)
                // Once more, because a hold does not tell why its release was not answered.
                .thenCompose(none -> store.unlock(hold.name(), id, hold.fencingToken()));
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
     * Has the current thread wait for the lock.
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
        ThreadWaiter waiter = entered(new ThreadWaiter(context, request, use));
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
        entered(waiter);
        return answer;
    }

    /** As {@link #acquire} for a lease that belongs to no thread; cancelling the future ends the wait. */
    public CompletableFuture<Lease> acquireAsync(LockRequest request) {
        EngineContext.requireStack();
        return start(new FutureWaiter(context, request, requested(request, null), null));
    }

    /**
     * Takes over a hold that another engine, or this one, has given away; cancelling the future gives the lock back.
     */
    CompletableFuture<Lease> takeOver(LockRequest request, Transfer transfer) {
        EngineContext.requireStack();
        return start(new FutureWaiter(context, request, requested(request, null), transfer));
    }

    private CompletableFuture<Lease> start(FutureWaiter waiter) {
        CompletableFuture<Lease> future = waiter.future();
        entered(waiter);
        try {
            waiter.start(future);
            return future;
        } catch (Throwable thrown) { // the caller has no future that would ever tell
            waiter.withdraw();
            throw thrown;
        }
    }

    private <W extends Waiter> W entered(W waiter) {
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
        LocalQueue queue;
        do {
            queue = queueFor(waiter);
        } while (!queue.enter(waiter));
        onceASecond.start(); // not before: there must be something to check
    }

    private LocalQueue queueFor(Waiter waiter) {
        String name = waiter.request().name();
        LockKind kind = waiter.request().terms().kind();
        if (waiter.transfer() != null) {
            LocalQueue own = new LocalQueue(name, kind, this);
            transferred.add(own);
            return own;
        }
        Map<String, LocalQueue> ofKind = queues(kind);
        LocalQueue known = ofKind.get(name);
        return known != null ? known : ofKind.computeIfAbsent(name, n -> new LocalQueue(n, kind, this));
    }

    /** Called when nothing is under way in the queue, with its mutex held. */
    void retire(LocalQueue queue) {
        if (!queues(queue.kind()).remove(queue.name(), queue)) {
            transferred.remove(queue);
        }
    }

    private Map<String, LocalQueue> queues(LockKind kind) {
        return Objects.requireNonNull(queues.get(kind));
    }

    /** Of all kinds. */
    private Stream<LocalQueue> queues(String name) {
        return Stream.concat(
                queues.values().stream().map(ofKind -> ofKind.get(name)).filter(Objects::nonNull),
                transferred.stream().filter(queue -> queue.name().equals(name)));
    }

    Stream<LocalQueue> queues() {
        return Stream.concat(
                queues.values().stream().flatMap(ofKind -> ofKind.values().stream()), transferred.stream());
    }

    /**
     * Has the holder with this id lose the lock, or the waiter with this id its place, which the store then gives away.
     *
     * @param reason without the name of the lock
     * @return false if there is neither here
     */
    public boolean revoke(String id, String reason) {
        Acquisition acquisition = acquisitions.get(id);
        if (acquisition != null) {
            acquisition.revoke(reason);
        }
        return acquisition != null;
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

    void register(Acquisition acquisition) {
        acquisitions.put(acquisition.id, acquisition);
    }

    void deregister(Acquisition acquisition) {
        acquisitions.remove(acquisition.id, acquisition);
    }

    /** Those under way. */
    Collection<Acquisition> acquisitions() {
        return acquisitions.values();
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

    // --- the channel: without it only time is lost ------------------------------------------------------------

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

    // --- questions --------------------------------------------------------------------------------------------

    /** The queue of a lock that is in use, if any. */
    @Nullable
    LocalQueue queue(LockKind kind, String name) {
        return queues(kind).get(name);
    }

    /**
     * The thread's hold of the lock in this kind, also if its lease may have run out or, of the write side, if it has
     * become a reader.
     */
    @Nullable
    Hold heldBy(Thread thread, String name, LockKind kind) {
        return heldBy(thread, queue(kind, name));
    }

    private static @Nullable Hold heldBy(Thread thread, @Nullable LocalQueue queue) {
        return queue == null ? null : queue.heldBy(thread);
    }

    /**
     * Refuses a thread that would wait for itself.
     *
     * @throws IllegalStateException if the thread holds the lock as another kind
     */
    void requireNotHeldOtherwise(Thread thread, LockRequest request) {
        for (Map<String, LocalQueue> others : queues.values()) {
            if (others != queues(request.terms().kind()) && !others.isEmpty()) {
                LocalQueue queue = others.get(request.name());
                Hold hold = heldBy(thread, queue);
                if (hold != null && hold.lease() != LeaseState.OVER) {
                    throw wouldWaitForItself(thread, request, hold);
                } else if (queue != null && hold != null) {
                    queue.endLapsed();
                }
            }
        }
    }

    /** Whether it is shared, or an exclusive one of which only the read side is left. */
    static boolean onlyReads(Hold hold) {
        return hold.count(LockKind.EXCLUSIVE) == 0 && hold.count(LockKind.SHARED) > 0;
    }

    static IllegalStateException wouldWaitForItself(Thread thread, LockRequest request, Hold hold) {
        boolean reads = onlyReads(hold);
        String message = "thread " + thread.getName() + " holds lock '" + LockNames.printable(request.name()) + "' "
                + (reads ? "as a reader" : hold.grant().terms().kind().how()) + " and would wait for itself to hold it "
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
        return queues(name).flatMap(queue -> queue.holds().stream()).anyMatch(Hold::isValid);
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
     * Waits for the answer to a question about the lock with this name.
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

    /** The number of names in use, ids under way and leases to be renewed: zero once all is released. */
    public int inUse() {
        return (int) queues().count() + acquisitions.size() + renewer.size();
    }

    /** Whether nothing is in use and nothing will be. */
    public boolean isOver() {
        return context.isClosing() && inUse() == 0;
    }

    // --- messages ---------------------------------------------------------------------------------------------

    @Override
    public void onPush(Push push) {
        Acquisition acquisition = acquisitions.get(push.id());
        if (acquisition != null) {
            acquisition.receive(push);
            return;
        }
        String name = isOurs(push.id()) ? store.nameOf(push.key()) : null;
        if (name != null) {
            // The store holds the lock for an id that has ended: a late command revived it, or a failover brought it
            // back.
            unanswered.repeatEnd(() -> store.unlock(name, push.id(), newestToken.get()));
        }
    }

    /**
     * Another has changed the lock with this key, or with null perhaps any lock: the holds of it are renewed soon,
     * which shows whether they are lost. It is a hint only. Does not block.
     */
    public void onChanged(@Nullable String key) {
        String name = key == null ? null : store.nameOf(key);
        if (key == null) {
            queues().forEach(LocalQueue::changed);
        } else if (name != null) {
            queues(name).forEach(LocalQueue::changed);
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
        acquisitions.values().forEach(Acquisition::mayHaveMissedPush);
    }

    // --- once a second ----------------------------------------------------------------------------------------

    /**
     * Compares the leases with the time of day, because the monotonic clock may stand still while the machine sleeps,
     * and has queues begin anew that could not when an action had thrown.
     *
     * @return whether anything is under way
     */
    private boolean check() {
        Moment now = context.now();
        acquisitions.values().forEach(acquisition -> acquisition.checkTimeOfDay(now));
        queues().forEach(LocalQueue::checkThrown);
        return inUse() > 0;
    }

    // --- shutdown ---------------------------------------------------------------------------------------------

    /**
     * No new grants; waiters leave the queue in the store and fail. Holds stay until they are released.
     *
     * @return completes when the store has answered, or could not be asked
     */
    public CompletableFuture<Void> stopGranting() {
        context.stopGranting();
        return CompletableFuture.allOf(queues().map(LockEngine::closed).toArray(CompletableFuture<?>[]::new));
    }

    /** What is thrown for one does not keep the others open. */
    private static CompletableFuture<?> closed(LocalQueue queue) {
        try {
            return queue.close();
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
        boolean anythingLeft = !unanswered.areAllAnswered() || !acquisitions.isEmpty();
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
