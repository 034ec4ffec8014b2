package io.github.lockboot.redis.faults;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import io.github.lockboot.LockLostException;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.NamedLock;
import io.github.lockboot.redis.faults.Event.Kind;

/** One thread that takes and releases locks and writes down what it sees. Used by that thread alone. */
final class Participant {

    private static final AtomicLong HOLDS = new AtomicLong();
    private static final long PROCESS = ProcessHandle.current().pid();

    private record Held(String hold, long token) {}

    private final LockRegistry registry;
    private final String name;
    private final Consumer<Event> log;
    private final Map<String, Held> holding = new HashMap<>();

    Participant(LockRegistry registry, String name, Consumer<Event> log) {
        this.registry = registry;
        this.name = name;
        this.log = log;
    }

    void lock(String lock) throws Exception {
        acquire(lock, () -> {
            registry.get(lock).lock();
            return true;
        });
    }

    void lockInterruptibly(String lock) throws Exception {
        acquire(lock, () -> {
            registry.get(lock).lockInterruptibly();
            return true;
        });
    }

    boolean tryLock(String lock, Duration wait) throws Exception {
        return acquire(lock, () -> registry.get(lock).tryLock(wait.toNanos(), TimeUnit.NANOSECONDS));
    }

    private boolean acquire(String lock, Callable<Boolean> way) throws Exception {
        String hold = PROCESS + "-" + HOLDS.incrementAndGet();
        note(Kind.REQUEST, lock, hold, 0, 0);
        boolean granted = false;
        try {
            granted = way.call();
        } finally {
            if (!granted) {
                note(Kind.FAILED, lock, hold, 0, 0);
            }
        }
        if (granted) {
            onGranted(lock, hold);
        }
        return granted;
    }

    private void onGranted(String lock, String hold) {
        long time = System.nanoTime();
        NamedLock held = registry.get(lock);
        try {
            long token = held.fencingToken();
            held.onLost(() -> note(Kind.LOST, lock, hold, token, 0));
            holding.put(lock, new Held(hold, token));
            log.accept(new Event(time, name, Kind.GRANTED, lock, hold, token, validUntil(held)));
        } catch (LockLostException lost) {
            holding.put(lock, new Held(hold, 0));
        }
    }

    /** Asks whether it still holds the lock, and writes the answer down. */
    boolean isHeld(String lock) {
        Held mine = holding.get(lock);
        long time = System.nanoTime();
        NamedLock held = registry.get(lock);
        boolean answer = held.isHeldByCurrentThread();
        long validUntil = validUntil(held);
        boolean sure = answer && validUntil > time;
        log.accept(new Event(
                time, name, sure ? Kind.HELD : Kind.NOT_HELD, lock, mine.hold(), mine.token(), sure ? validUntil : 0));
        return answer;
    }

    /** Releases; what that throws is written down and comes out. */
    void unlock(String lock) {
        Held mine = holding.remove(lock);
        note(Kind.RELEASING, lock, mine.hold(), mine.token(), validUntil(registry.get(lock)));
        try {
            registry.get(lock).unlock();
            note(Kind.RELEASED, lock, mine.hold(), mine.token(), 0);
        } catch (RuntimeException failure) {
            note(Kind.RELEASE_FAILED, lock, mine.hold(), mine.token(), 0);
            throw failure;
        }
    }

    private static long validUntil(NamedLock held) {
        long now = System.nanoTime();
        long left = held.remainingLease().toNanos();
        return left == 0 ? 0 : now + left;
    }

    private void note(Kind kind, String lock, String hold, long token, long validUntil) {
        log.accept(new Event(System.nanoTime(), name, kind, lock, hold, token, validUntil));
    }
}
