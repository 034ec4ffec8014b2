package io.github.lockboot.faults;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;

import io.github.lockboot.LockLostException;
import io.github.lockboot.faults.Event.Kind;
import io.github.lockboot.harness.Contender;

/**
 * One thread that takes locks, writes at the witness while it holds them, releases them, and writes down what it sees.
 * Used by that thread alone.
 */
final class Participant {

    private static final AtomicLong HOLDS = new AtomicLong();
    private static final long PROCESS = ProcessHandle.current().pid();

    private final Contender.Client client;
    private final WitnessClient witness;
    private final String name;
    private final Consumer<Event> log;
    private final String lockName;
    private final int limit;
    private final Lock lock;
    private String hold = "-";
    private volatile String downgraded = "-";
    private long token;
    private long read;

    /** @param limit how many may hold the lock at a time, if they all take it with this limit */
    Participant(
            Contender.Client client,
            WitnessClient witness,
            String name,
            String lockName,
            int limit,
            Consumer<Event> log) {
        this.client = client;
        this.witness = witness;
        this.name = name;
        this.lockName = lockName;
        this.log = log;
        this.limit = limit;
        this.lock = client.lock(lockName, limit);
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
            client.onLost(lock, () -> {
                if (!granted.equals(downgraded)) {
                    log.accept(event(System.nanoTime(), Kind.LOST, granted, grantedToken, 0));
                }
            });
            log.accept(event(time, Kind.GRANTED, hold, token, client.validUntil(lock)));
            read = witness.read(lockName, token);
        } catch (LockLostException lost) {
            log.accept(event(time, Kind.NOT_HELD, hold, 0, 0));
        }
    }

    /**
     * A step of the work under the lock: looks whether it still holds, works, writes, or looks that nobody wrote if it
     * may not be alone. That the witness refuses it tells it nothing: how long it goes on to believe is to be seen.
     *
     * @return whether it may go on
     */
    boolean work(long nanos) {
        if (!isHeld()) {
            return false;
        }
        Pause.nanos(nanos);
        long seen = limit == 1 ? witness.write(lockName, token, read) : witness.look(lockName, token, read);
        if (seen == WitnessClient.REFUSED) {
            note(Kind.REFUSED, 0);
        } else {
            read = seen;
        }
        return true;
    }

    /** Asks whether it still holds the lock, and writes the answer down. */
    private boolean isHeld() {
        long time = System.nanoTime();
        boolean answer = client.isHeld(lock);
        long validUntil = client.validUntil(lock);
        boolean sure = answer && (token == 0 || validUntil > time);
        log.accept(event(time, sure ? Kind.HELD : Kind.NOT_HELD, hold, token, sure ? validUntil : 0));
        return answer;
    }

    boolean mayBecome(Participant reader) {
        return limit == 1 && reader.limit == Contender.Client.UNLIMITED;
    }

    /**
     * Takes the read side while it holds the write side, which is to be released next: from then on a loss is the
     * reader's.
     */
    boolean downgradeTo(Participant reader) throws InterruptedException {
        boolean reads = reader.lock();
        downgraded = hold;
        return reads;
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
        log.accept(event(System.nanoTime(), kind, hold, token, validUntil));
    }

    private Event event(long time, Kind kind, String of, long withToken, long validUntil) {
        return new Event(time, name, kind, lockName, of, limit, withToken, validUntil);
    }
}
