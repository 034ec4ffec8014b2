package io.github.lockboot;

import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

import io.github.lockboot.LockSet.Taking;
import io.github.lockboot.LockSet.Wanted;
import io.github.lockboot.internal.Timer;

/** Several locks of a thread as one, in the order of their names. */
record MultiLock(List<Wanted> locks) implements Lock {

    static MultiLock of(LockRegistry registry, Collection<String> names, LockOptions options) {
        if (names.isEmpty()) {
            throw new IllegalArgumentException("there are no lock names: pass at least one");
        }
        return new MultiLock(new TreeSet<>(names)
                .stream()
                        .map(name -> new Wanted(LockRuntime.get(registry, name, options), null))
                        .toList());
    }

    private boolean take(Taking taking) throws InterruptedException {
        return new LockSet(locks).takeAll(taking, true).refusal() == null;
    }

    private boolean takeUninterruptibly(Taking taking) {
        try {
            return new LockSet(locks).takeAll(taking, false).refusal() == null;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void lock() {
        takeUninterruptibly(lock -> {
            lock.lock();
            return true;
        });
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        take(lock -> {
            lock.lockInterruptibly();
            return true;
        });
    }

    @Override
    public boolean tryLock() {
        return takeUninterruptibly(NamedLock::tryLock);
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        long deadline = Timer.systemNanoTime() + Math.max(0, unit.toNanos(time));
        return take(lock -> lock.tryLock(deadline - Timer.systemNanoTime(), TimeUnit.NANOSECONDS));
    }

    @Override
    public void unlock() {
        HeldLocks held = new HeldLocks();
        locks.forEach(each -> held.add(new LockContext(each.lock(), null, null)));
        held.release(true);
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("a distributed lock offers no conditions");
    }
}
