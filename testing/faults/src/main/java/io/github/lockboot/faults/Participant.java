package io.github.lockboot.faults;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;

import io.github.lockboot.LockLostException;
import io.github.lockboot.faults.Event.Kind;
import io.github.lockboot.harness.Contender;

/**
 * One thread that takes locks, writes at the witness while it holds them, releases them, and writes down what it sees. Used by that
 * thread alone.
 */
final class Participant {

    private static final AtomicLong HOLDS = new AtomicLong();
    private static final long PROCESS = ProcessHandle.current().pid();

    private final Contender.Client client;
    private final WitnessClient witness;
    private final String name;
    private final Consumer<Event> log;
    private final String lockName;
    private final Lock lock;
    private String hold = "-";
    private long token;
    private long read;

    Participant(Contender.Client client, WitnessClient witness, String name, String lockName, Consumer<Event> log) {
        this.client = client;
        this.witness = witness;
        this.name = name;
        this.lockName = lockName;
        this.log = log;
        this.lock = client.lock(lockName);
    }

    /** A way to take a lock. */
    @FunctionalInterface
    interface Way {
        boolean take(Lock lock) throws InterruptedException;
    }

    boolean lock() throws InterruptedException {
        return acquire(wanted -> {
            wanted.lock();
            return true;
        });
    }

    boolean lockInterruptibly() throws InterruptedException {
        return acquire(wanted -> {
            wanted.lockInterruptibly();
            return true;
        });
    }

    boolean tryLock(long nanos) throws InterruptedException {
        return acquire(wanted -> wanted.tryLock(nanos, TimeUnit.NANOSECONDS));
    }

    private boolean acquire(Way way) throws InterruptedException {
        hold = PROCESS + "-" + HOLDS.incrementAndGet();
        token = 0;
        note(Kind.REQUEST, 0);
        boolean granted = false;
        try {
            granted = way.take(lock);
        } finally {
            if (!granted) {
                note(Kind.FAILED, 0);
            }
        }
        if (granted) {
            onGranted();
        }
        return granted;
    }

    private void onGranted() {
        long time = System.nanoTime();
        try {
            token = client.token(lock);
            String granted = hold;
            long grantedToken = token;
            client.onLost(
                    lock,
                    () -> log.accept(
                            new Event(System.nanoTime(), name, Kind.LOST, lockName, granted, grantedToken, 0)));
            log.accept(new Event(time, name, Kind.GRANTED, lockName, hold, token, client.validUntil(lock)));
            read = witness.read(lockName, token);
        } catch (LockLostException lost) {
            log.accept(new Event(time, name, Kind.NOT_HELD, lockName, hold, 0, 0));
        }
    }

    /**
     * A step of the work under the lock: looks whether it still holds, works, writes. That a write is refused tells it nothing: how long
     * it goes on to believe is to be seen.
     *
     * @return whether it may go on
     */
    boolean work(long nanos) {
        if (!isHeld()) {
            return false;
        }
        Pause.nanos(nanos);
        long written = witness.write(lockName, token, read);
        if (written == WitnessClient.REFUSED) {
            note(Kind.REFUSED, 0);
        } else {
            read = written;
        }
        return true;
    }

    /** Asks whether it still holds the lock, and writes the answer down. */
    private boolean isHeld() {
        long time = System.nanoTime();
        boolean answer = client.isHeld(lock);
        long validUntil = client.validUntil(lock);
        boolean sure = answer && (token == 0 || validUntil > time);
        log.accept(
                new Event(time, name, sure ? Kind.HELD : Kind.NOT_HELD, lockName, hold, token, sure ? validUntil : 0));
        return answer;
    }

    void unlock() {
        note(Kind.RELEASING, client.validUntil(lock));
        try {
            lock.unlock();
            note(Kind.RELEASED, 0);
        } catch (RuntimeException failure) {
            // Judged by the log.
            note(Kind.RELEASE_FAILED, 0);
        }
    }

    private void note(Kind kind, long validUntil) {
        log.accept(new Event(System.nanoTime(), name, kind, lockName, hold, token, validUntil));
    }
}
