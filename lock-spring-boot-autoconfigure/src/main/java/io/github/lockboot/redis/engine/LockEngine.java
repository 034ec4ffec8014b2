package io.github.lockboot.redis.engine;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.DoubleSupplier;

import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.internal.InTurn;
import io.github.lockboot.internal.Rounds;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.internal.Unexpected;
import io.github.lockboot.redis.protocol.AcquisitionIds;
import io.github.lockboot.redis.protocol.GrantChannel;
import io.github.lockboot.redis.protocol.LockStore;
import io.github.lockboot.redis.protocol.Push;
import io.github.lockboot.redis.protocol.RedisFailure;
import io.github.lockboot.redis.protocol.Reply;
import org.jspecify.annotations.Nullable;

/** What the parts of one registry share: its session, time and threads, and what is under way in it by name and by id. */
public final class LockEngine implements GrantChannel.Subscriber, AutoCloseable {

    public static final CompletableFuture<Boolean> INTACT = CompletableFuture.completedFuture(true);
    public static final CompletableFuture<Boolean> NOT_INTACT = CompletableFuture.completedFuture(false);
    public static final String NO_ANSWER = "Redis did not answer; see the cause, and lock.redis.command-timeout";

    public static final String CLOSING = "the registry is closing";

    /** Waits that are longer count as this long: nobody will see the difference. */
    public static final long LONGEST_NANOS = Long.MAX_VALUE / 4;

    /** The longest lease that comes with a pushed grant; a waiter polls three times in it. */
    private static final long CLAIM_LEASE_MILLIS = 6_000;

    private static final Duration LONGEST = Duration.ofNanos(LONGEST_NANOS);
    private static final long NO_THREAD_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long DRAIN_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** How a registry waits and passes on. */
    public record Settings(
            Duration retryInterval, Duration retryMinInterval, Duration commandTimeout, int localHandoffLimit) {

        /** How often a waiter asks at least, whatever its terms. */
        public Duration poll() {
            Duration longest = Duration.ofMillis(CLAIM_LEASE_MILLIS / 3);
            return retryInterval.compareTo(longest) < 0 ? retryInterval : longest;
        }

        /** How long a waiter may be unseen before it is dropped from the queue. */
        public Duration patience() {
            Duration longer = poll().compareTo(commandTimeout) > 0 ? poll() : commandTimeout;
            return longer.multipliedBy(3);
        }
    }

    private final Settings settings;
    private final AcquisitionIds ids;
    private final LockStore store;
    private final Timer timer;
    private final ExecutorService workers;
    private final Executor inTurn;
    private final Rounds looks;
    private final DoubleSupplier random;
    private final GrantChannel channel;
    private final Renewer renewer;
    private final Settler settler;
    private final LockLog log = new LockLog();
    private final LossReporter losses;
    private final Listeners listeners;
    private final Map<String, LocalQueue> queues = new ConcurrentHashMap<>();
    private final Map<String, Acquisition> acquisitions = new ConcurrentHashMap<>();
    private final AtomicLong newestToken = new AtomicLong();
    private volatile boolean closing;
    private volatile boolean closed;

    /** What comes from outside: tests replace it. */
    public record Surroundings(Timer timer, ExecutorService workers, DoubleSupplier random) {}

    public interface ChannelFactory {
        GrantChannel create(GrantChannel.Subscriber subscriber);
    }

    public LockEngine(
            Settings settings,
            AcquisitionIds ids,
            LockStore store,
            Surroundings surroundings,
            ChannelFactory channelFactory) {
        this.settings = settings;
        this.ids = ids;
        this.store = store;
        this.timer = surroundings.timer();
        this.workers = surroundings.workers();
        this.inTurn = new InTurn(this::runLater);
        this.looks = new Rounds(timer, LOOK_NANOS, this::lookAfter);
        this.random = surroundings.random();
        this.channel = channelFactory.create(this);
        this.renewer = new Renewer(this);
        this.settler = new Settler(this);
        this.losses = new LossReporter(this::runLater, log);
        this.listeners = new Listeners(timer, this::runLater);
    }

    // --- names ------------------------------------------------------------------------------------------------

    /** The queue of a name that is in use, if any. */
    @Nullable
    public LocalQueue queue(String name) {
        return queues.get(name);
    }

    /** Has the waiter queue for the name. */
    public LocalQueue enter(String name, Waiter waiter) {
        looks.begin();
        while (true) {
            LocalQueue known = queues.get(name);
            LocalQueue queue = known != null ? known : queues.computeIfAbsent(name, n -> new LocalQueue(this, n));
            if (queue.enter(waiter)) {
                return queue;
            }
        }
    }

    /**
     * Has nothing stay behind of one that is gone, whatever had become of it. Where there is no stack left, that is not tried: it would
     * end in the middle. It is done when the queue is looked after, within a second.
     */
    public void withdraw(String name, Waiter waiter, Throwable thrown) {
        if (thrown instanceof StackOverflowError) {
            return;
        }
        LocalQueue queue = waiter.outcome() instanceof Hold hold ? hold.queue() : queues.get(name);
        if (queue != null) {
            queue.onEvent(() -> queue.withdraw(waiter));
        }
    }

    public void retire(LocalQueue queue) {
        queues.remove(queue.name(), queue);
    }

    /** Names in use and ids under way: nothing once all is released and answered. */
    public int inUse() {
        return queues.size() + acquisitions.size() + renewer.size();
    }

    /** Whether anybody holds the lock, as Redis says. */
    public boolean isLocked(String name) {
        try {
            Reply reply = store.inspect(name).join();
            return !(reply instanceof Reply.Free);
        } catch (CompletionException failure) {
            throw new LockUnavailableException(name, NO_ANSWER, RedisFailure.unwrap(failure));
        }
    }

    // --- ids --------------------------------------------------------------------------------------------------

    public String nextId() {
        return ids.next();
    }

    public void register(Acquisition acquisition) {
        acquisitions.put(acquisition.id, acquisition);
    }

    public void deregister(Acquisition acquisition) {
        acquisitions.remove(acquisition.id, acquisition);
    }

    /** Remembers the largest token used by this registry. */
    public void noteToken(long token) {
        if (token > newestToken.get()) {
            newestToken.accumulateAndGet(token, Math::max);
        }
    }

    @Override
    public void onPush(Push push) {
        Acquisition acquisition = acquisitions.get(push.id());
        if (acquisition != null) {
            acquisition.queue().onEvent(() -> acquisition.onPush(push));
        } else if (ids.isOurs(push.id()) && store.isLockKey(push.key())) {
            // Redis holds the lock for an id that has ended: a late command revived it, or a failover brought it back.
            settler.unlock(store.nameOf(push.key()), push.id(), newestToken.get());
        }
    }

    /** Ours are not news: those who followed here were told by the holder itself. */
    @Override
    public void onCompletion(Push push) {
        if (!ids.isOurs(push.id()) && store.isLockKey(push.key())) {
            LocalQueue queue = queues.get(store.nameOf(push.key()));
            if (queue != null) {
                queue.completedElsewhere(push.fence());
            }
        }
    }

    @Override
    public void onSubscribed() {
        acquisitions.values().forEach(acquisition -> acquisition.queue().onEvent(acquisition::askSoon));
    }

    /** Nothing is lost without the channel but time, so nothing that is thrown there goes further. */
    public void openChannel() {
        try {
            channel.open();
        } catch (Throwable thrown) {
            Unexpected.failure("when the channel was opened", thrown);
        }
    }

    /** As {@link #openChannel}, when there is reason to doubt that it brings messages. */
    public void verifyChannel() {
        try {
            channel.verify();
        } catch (Throwable thrown) {
            Unexpected.failure("when the channel was to be verified", thrown);
        }
    }

    /** As {@link #openChannel}, for those who follow. */
    public void followChannel() {
        try {
            channel.follow();
        } catch (Throwable thrown) {
            Unexpected.failure("when completions were to be listened to", thrown);
        }
    }

    // --- looking after what is under way ----------------------------------------------------------------------

    /**
     * Everything under way has something that makes it go on: an answer, a task of the timer, a hold. Whatever was thrown may have
     * cost that, so all of it is looked at now and then.
     *
     * @return whether anything is under way
     */
    private boolean lookAfter() {
        long now = nanoTime();
        long wallMillis = wallMillis();
        acquisitions.values().forEach(acquisition -> {
            if (acquisition.isOverdue(now)) {
                acquisition.queue().onEvent(acquisition::lookAfter);
            } else if (acquisition.isOwned() && acquisition.grant().isInDoubt(wallMillis)) {
                renewer.renewSoon(acquisition);
            }
        });
        queues.values().forEach(queue -> queue.onEvent(queue::lookAfter));
        renewer.lookAfter();
        return inUse() > 0;
    }

    // --- time and threads -------------------------------------------------------------------------------------

    public long nanoTime() {
        return timer.nanoTime();
    }

    public long wallMillis() {
        return timer.wallMillis();
    }

    public Moment now() {
        return Moment.now(timer);
    }

    public Timer.Task schedule(long delayNanos, Runnable task) {
        return timer.schedule(delayNanos, task);
    }

    /** For what must happen although a single task may be lost with something that was thrown. */
    public Timer.Task repeat(long delayNanos, long pauseNanos, Runnable task) {
        return timer.repeat(delayNanos, pauseNanos, task);
    }

    /** When the process has no thread left to give, it is tried again: what is told here must not be forgotten. */
    public void runLater(Runnable mayBlock) {
        try {
            workers.execute(mayBlock);
        } catch (Throwable noThread) {
            schedule(NO_THREAD_NANOS, () -> runLater(mayBlock));
        }
    }

    /** On a worker too, but one after the other: for many at once that do not block. */
    public void runInTurn(Runnable quick) {
        inTurn.execute(quick);
    }

    public static long nanosOf(Duration duration) {
        if (duration.compareTo(LONGEST) > 0) {
            return LONGEST_NANOS;
        }
        return duration.compareTo(LONGEST.negated()) < 0 ? -LONGEST_NANOS : duration.toNanos();
    }

    /** The duration, shortened by chance to not less than half. */
    public long jittered(long nanos) {
        return nanos - (long) (nanos / 2 * random.getAsDouble());
    }

    /** How often a waiter asks again: never so rarely that it could miss a whole claim lease. */
    public long pollInterval(Terms terms) {
        long claimLease = TimeUnit.MILLISECONDS.toNanos(Math.min(terms.ttlMillis(), CLAIM_LEASE_MILLIS));
        return Math.min(settings.retryInterval().toNanos(), claimLease / 3);
    }

    public long minInterval() {
        return settings.retryMinInterval().toNanos();
    }

    /** How long Redis may take for an answer. */
    public long commandTimeout() {
        return settings.commandTimeout().toNanos();
    }

    public long maxPause() {
        return settings.retryInterval().toNanos();
    }

    public int localHandoffLimit() {
        return settings.localHandoffLimit();
    }

    // --- parts ------------------------------------------------------------------------------------------------

    public LockStore store() {
        return store;
    }

    public GrantChannel channel() {
        return channel;
    }

    public Renewer renewer() {
        return renewer;
    }

    public Settler settler() {
        return settler;
    }

    public LossReporter losses() {
        return losses;
    }

    public LockLog log() {
        return log;
    }

    public Listeners listeners() {
        return listeners;
    }

    // --- shutdown ---------------------------------------------------------------------------------------------

    public boolean isClosing() {
        return closing;
    }

    public boolean isClosed() {
        return closed;
    }

    /**
     * No new grants; waiters leave the queue in Redis and fail. Holds stay until they are released.
     *
     * @return completes when Redis knows, or could not be told
     */
    public CompletableFuture<Void> stopGranting() {
        closing = true;
        return CompletableFuture.allOf(
                queues.values().stream().map(LockEngine::closed).toArray(CompletableFuture<?>[]::new));
    }

    /** What is thrown for one does not keep the others open. */
    private static CompletableFuture<Void> closed(LocalQueue queue) {
        try {
            return queue.close();
        } catch (Throwable thrown) {
            return CompletableFuture.failedFuture(thrown);
        }
    }

    /**
     * Waits for what was granted before to be given back; locks that are kept for longer than this time are left.
     *
     * @return completes when Redis has been told of the last, or when the time has passed
     */
    public CompletableFuture<Void> drain(long atMostNanos) {
        CompletableFuture<Void> drained = new CompletableFuture<>();
        lookWhetherDrained(drained, nanoTime() + atMostNanos);
        return drained.completeOnTimeout(null, atMostNanos, TimeUnit.NANOSECONDS);
    }

    private void lookWhetherDrained(CompletableFuture<Void> drained, long deadline) {
        boolean anythingLeft = !settler.isIdle()
                || acquisitions.values().stream().anyMatch(acquisition -> !acquisition.isKeptBeyond(deadline));
        if (!anythingLeft) {
            drained.complete(null);
        } else if (!drained.isDone()) {
            schedule(DRAIN_LOOK_NANOS, () -> lookWhetherDrained(drained, deadline));
        }
    }

    @Override
    public void close() {
        closed = true;
        try {
            channel.close();
        } finally {
            timer.close();
            workers.shutdown();
        }
    }
}
