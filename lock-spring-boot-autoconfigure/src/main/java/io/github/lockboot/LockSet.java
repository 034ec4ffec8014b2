package io.github.lockboot;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * Several locks as one: all are held, or none is by this. They are taken in the order of their names, so that two sets with
 * names in common never wait for each other.
 *
 * <p>A lease may run out while the next lock is waited for. So when all have been taken all must still be held, or everything is
 * given back and taken anew, as long as there is time.
 */
final class LockSet implements Lock {

    private final List<NamedLock> locks;
    private final List<NamedLock> lastFirst;

    private LockSet(List<NamedLock> locks) {
        this.locks = locks;
        this.lastFirst = new ArrayList<>(locks);
        Collections.reverse(lastFirst);
    }

    static LockSet of(LockRegistry registry, Collection<String> names, LockOptions options) {
        if (names.isEmpty()) {
            throw new IllegalArgumentException("there are no lock names");
        }
        return new LockSet(new TreeSet<>(names)
                .stream().map(name -> registry.get(name, options)).toList());
    }

    /** A way to take one lock. */
    private interface Taking<E extends Exception> {

        boolean take(NamedLock lock) throws E;
    }

    @Override
    public void lock() {
        takeAll(lock -> {
            lock.lock();
            return true;
        });
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        takeAll((Taking<InterruptedException>) lock -> {
            lock.lockInterruptibly();
            return true;
        });
    }

    @Override
    public boolean tryLock() {
        return takeAll(NamedLock::tryLock);
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        long start = System.nanoTime();
        long wait = Math.max(0, unit.toNanos(time));
        return takeAll((Taking<InterruptedException>)
                lock -> lock.tryLock(wait - (System.nanoTime() - start), TimeUnit.NANOSECONDS));
    }

    private <E extends Exception> boolean takeAll(Taking<E> taking) throws E {
        while (takeEach(taking)) {
            if (locks.stream().allMatch(NamedLock::isHeldByCurrentThread)) {
                return true;
            }
            release(lastFirst);
        }
        return false;
    }

    /** Takes one after the other; what it cannot end, it undoes. */
    private <E extends Exception> boolean takeEach(Taking<E> taking) throws E {
        int taken = 0;
        Throwable failure = null;
        try {
            while (taken < locks.size() && taking.take(locks.get(taken))) {
                taken++;
            }
            return taken == locks.size();
        } catch (Throwable thrown) {
            failure = thrown;
            throw thrown;
        } finally {
            if (taken < locks.size()) {
                RuntimeException lost = release(lastFirst.subList(locks.size() - taken, locks.size()));
                if (failure != null && lost != null) {
                    failure.addSuppressed(lost);
                }
            }
        }
    }

    @Override
    public void unlock() {
        RuntimeException failure = release(lastFirst);
        if (failure != null) {
            throw failure;
        }
    }

    /** @return the first of what went wrong, with the rest suppressed */
    private static @Nullable RuntimeException release(List<NamedLock> held) {
        RuntimeException failure = null;
        for (NamedLock lock : held) {
            try {
                lock.unlock();
            } catch (RuntimeException thrown) {
                if (failure == null) {
                    failure = thrown;
                } else {
                    failure.addSuppressed(thrown);
                }
            }
        }
        return failure;
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("a distributed lock offers no conditions");
    }

    @Override
    public String toString() {
        return locks.stream().map(NamedLock::getName).collect(Collectors.joining(", ", "LockSet[", "]"));
    }
}
