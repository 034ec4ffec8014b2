package io.github.lockboot;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.function.Function;

import io.github.lockboot.internal.Announcements;
import org.jspecify.annotations.Nullable;

/**
 * Locks that are free unless said to be taken, and what happens to them is written down. Nothing waits and nothing
 * takes time; what is asked for asynchronously is answered at once, unless {@link #answerLater} was called.
 */
public final class RecordingLockRegistry implements LockRuntime {

    /** For options without one. */
    public static final Duration WAIT_TIME = Duration.ofSeconds(7);

    private final List<String> events = new CopyOnWriteArrayList<>();
    private final List<Duration> waits = new CopyOnWriteArrayList<>();
    private final Set<String> taken = ConcurrentHashMap.newKeySet();
    private final Set<String> outOfReach = ConcurrentHashMap.newKeySet();
    private final Set<String> lost = ConcurrentHashMap.newKeySet();
    private final Map<String, Runnable> announced = new ConcurrentHashMap<>();
    private final Announcements announcements = new Announcements();
    private final AtomicInteger listening = new AtomicInteger();
    private final Map<String, Error> broken = new ConcurrentHashMap<>();
    private final Map<String, RuntimeException> unsure = new ConcurrentHashMap<>();
    private final Map<String, LockOptions> options = new ConcurrentHashMap<>();
    private final Map<String, CompletableFuture<Lease>> later = new ConcurrentHashMap<>();
    private volatile LockOptions lastOptions = LockOptions.defaults();
    private volatile Duration lastKeep = Duration.ZERO;
    private int listeners;
    private long token = 100;
    private volatile boolean answersLater;
    private volatile @Nullable Error noHandle;

    @Override
    public Function<String, NamedLock> handles(LockOptions options) {
        return name -> get(name, options);
    }

    @Override
    public void addListener(LockListener listener) {
        listeners++;
    }

    @Override
    public List<String> holders(String name) {
        return List.of();
    }

    /** How many have been added; none is told anything. */
    public int listeners() {
        return listeners;
    }

    /**
     * What happened, in order: {@code lock <name>}, {@code unlock <name>}, {@code keep <name>} and what was recorded.
     */
    public List<String> events() {
        return List.copyOf(events);
    }

    /** The names locked, in order. */
    public List<String> names() {
        return events.stream()
                .filter(event -> event.startsWith("lock "))
                .map(event -> event.substring("lock ".length()))
                .toList();
    }

    /** How long each lock of a thread was waited for at most, in order. */
    public List<Duration> waits() {
        return List.copyOf(waits);
    }

    public LockOptions lastOptions() {
        return lastOptions;
    }

    public LockOptions optionsOf(String name) {
        return options.get(name);
    }

    /** How long the last lease that was not closed at once stays. */
    public Duration lastKeep() {
        return lastKeep;
    }

    public void record(String event) {
        events.add(event);
    }

    /** From now on somebody else holds this lock. */
    public void take(String name) {
        taken.add(name);
    }

    /** From now on nobody else holds this lock. */
    public void free(String name) {
        taken.remove(name);
    }

    /** From now on Redis does not answer for this lock. */
    public void cutOff(String name) {
        outOfReach.add(name);
    }

    /**
     * The next one to wait for this lock waits until the value is announced, which happens after this, and then has it.
     */
    public void announceElsewhere(String name, Runnable before) {
        announced.put(name, before);
    }

    /** Whoever holds this lock has lost it. */
    public void lose(String name) {
        lost.add(name);
    }

    /** From now on the release of this lock throws the error. */
    public void failRelease(String name, Error error) {
        broken.put(name, error);
    }

    /** From now on the question whether this lock has been lost throws the exception. */
    public void failValidity(String name, RuntimeException failure) {
        unsure.put(name, failure);
    }

    /** There are no handles any more once a lock has been taken. */
    public void failGetOnceTaken(Error error) {
        noHandle = error;
    }

    /** From now on an asynchronous request is answered by {@link #answer}. */
    public void answerLater() {
        answersLater = true;
    }

    public CompletableFuture<Lease> answer(String name) {
        CompletableFuture<Lease> request = later.remove(name);
        Lease lease = new RecordedLease(name);
        if (!request.complete(lease)) {
            lease.close();
        }
        return request;
    }

    /** The request for a lease that has not been answered yet. */
    public CompletableFuture<Lease> request(String name) {
        return later.get(name);
    }

    @Override
    public NamedLock get(String name, LockOptions options) {
        if (noHandle != null && !names().isEmpty()) {
            throw noHandle;
        }
        lastOptions = options;
        return new RecordedLock(name, options);
    }

    @Override
    public Lease acquire(String name, LockOptions options) {
        lastOptions = options;
        return tryAcquire(name, options).orElseThrow(() -> new LockNotAcquiredException(name, Duration.ZERO));
    }

    @Override
    public Optional<Lease> tryAcquire(String name, LockOptions options) {
        return isFree(name, options) ? Optional.of(new RecordedLease(name)) : Optional.empty();
    }

    @Override
    public CompletableFuture<Lease> acquireAsync(String name, LockOptions options) {
        if (answersLater) {
            return later.computeIfAbsent(name, absent -> new CompletableFuture<>());
        }
        try {
            return CompletableFuture.completedFuture(acquire(name, options));
        } catch (LockException failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    @Override
    public CompletableFuture<Lease> acquireAsync(NamedLock lock, Duration wait) {
        waits.add(wait);
        return announced.containsKey(lock.getName())
                ? later.computeIfAbsent(lock.getName(), absent -> new CompletableFuture<>())
                : acquireAsync(lock.getName(), lock.options().withWaitTime(wait));
    }

    @Override
    public void announce(String name) {
        events.add("announce " + name);
        announcements.announced(name);
    }

    @Override
    public Runnable onAnnounced(String name, Runnable listener) {
        Runnable end = announcements.listen(name, listener);
        listening.incrementAndGet();
        Runnable before = announced.remove(name);
        if (before != null) {
            before.run();
            announcements.announced(name);
        }
        return () -> {
            listening.decrementAndGet();
            end.run();
        };
    }

    public boolean isAnybodyListening() {
        return listening.get() > 0;
    }

    private boolean isFree(String name, LockOptions options) {
        this.options.put(name, options);
        if (outOfReach.contains(name)) {
            throw new LockUnavailableException(name, "cut off", null);
        }
        return !taken.contains(name) && events.add("lock " + name);
    }

    private void end(String name, long token) {
        events.add("unlock " + name);
        if (lost.contains(name)) {
            throw new LockLostException(name, token, "test");
        }
        if (broken.containsKey(name)) {
            throw broken.get(name);
        }
    }

    private boolean isLost(String name) {
        if (unsure.containsKey(name)) {
            throw unsure.get(name);
        }
        return lost.contains(name);
    }

    private boolean isHeld(String name) {
        return events.lastIndexOf("lock " + name) > events.lastIndexOf("unlock " + name);
    }

    private synchronized long nextToken() {
        return ++token;
    }

    private final class RecordedLease implements Lease {

        private final String name;
        private final long token = nextToken();
        private boolean closed;

        RecordedLease(String name) {
            this.name = name;
            if (answersLater) {
                events.add("lock " + name);
            }
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public long fencingToken() {
            return token;
        }

        @Override
        public boolean isValid() {
            return !isLost(name);
        }

        @Override
        public Duration remainingLease() {
            return Duration.ofSeconds(isValid() ? 20 : 0);
        }

        @Override
        public void onLost(Runnable callback) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                end(name, token);
            }
        }

        @Override
        public CompletableFuture<Void> closeAfter(Duration delay) {
            if (delay.isZero()) {
                try {
                    close();
                } catch (LockLostException failure) {
                    return CompletableFuture.failedFuture(failure);
                }
            } else {
                lastKeep = delay;
                events.add("keep " + name);
            }
            return CompletableFuture.completedFuture(null);
        }
    }

    private final class RecordedLock implements NamedLock {

        private final String name;
        private final LockOptions options;

        RecordedLock(String name, LockOptions options) {
            this.name = name;
            this.options = options.waitTime() != null ? options : options.withWaitTime(WAIT_TIME);
        }

        @Override
        public String getName() {
            return name;
        }

        @Override
        public LockOptions options() {
            return options;
        }

        @Override
        public boolean tryLock() {
            return isFree(name, options);
        }

        @Override
        public boolean tryLock(long time, TimeUnit unit) {
            waits.add(Duration.of(time, unit.toChronoUnit()));
            return tryLock();
        }

        @Override
        public boolean tryLock(Duration wait, Duration ttl) {
            return tryLock();
        }

        @Override
        public void unlock() {
            end(name, token);
        }

        @Override
        public Lease asLease() {
            return new RecordedLease(name);
        }

        @Override
        public boolean isHeldByCurrentThread() {
            return !isLost(name) && isHeld(name);
        }

        @Override
        public long fencingToken() {
            return 7;
        }

        @Override
        public Duration remainingLease() {
            return Duration.ofSeconds(isHeldByCurrentThread() ? 20 : 0);
        }

        @Override
        public void lock() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void lockInterruptibly() {
            throw new UnsupportedOperationException();
        }

        @Override
        public Condition newCondition() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int getHoldCount() {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isLocked() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void onLost(Runnable callback) {
            throw new UnsupportedOperationException();
        }
    }
}
