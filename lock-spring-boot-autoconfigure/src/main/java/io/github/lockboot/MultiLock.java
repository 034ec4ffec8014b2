package io.github.lockboot;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.lockboot.HeldLocks.Acquirer;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/**
 * Several locks of a thread as one: the thread holds all of them or none. Made by {@link LockRegistry#allOf}, which
 * describes how they are acquired and released.
 *
 * <p>Like a {@link NamedLock}, it is a cheap handle: two handles of the same locks are equal. For the fencing token and
 * the lease of one of them use {@link LockRegistry#get(String)}. All methods may be called from any thread, virtual
 * threads included.
 */
public final class MultiLock implements Lock {

    private final List<NamedLock> locks;

    private MultiLock(List<NamedLock> locks) {
        this.locks = locks;
    }

    static MultiLock of(Collection<String> names, Function<String, NamedLock> locks) {
        if (names.isEmpty()) {
            throw new IllegalArgumentException("there are no lock names: pass at least one");
        }
        return new MultiLock(new TreeSet<>(names).stream().map(locks).toList());
    }

    /** {@return the names of the locks, each once, in the order in which they are acquired} */
    public List<String> getNames() {
        return locks.stream().map(NamedLock::getName).toList();
    }

    // --- acquisition ------------------------------------------------------------------------------------------

    /** Returns null if the thread has all locks. */
    private @Nullable LockNotAcquiredException acquire(Acquirer acquirer, boolean interruptible)
            throws InterruptedException {
        HeldLocks wanted = new HeldLocks(
                locks.stream().map(lock -> new LockContext(lock, null, null)).toList());
        wanted.acquire(acquirer, interruptible);
        return wanted.refusal();
    }

    private @Nullable LockNotAcquiredException acquireUninterruptibly(Acquirer acquirer) {
        try {
            return acquire(acquirer, false);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void requireAcquired(@Nullable LockNotAcquiredException refusal) {
        if (refusal != null) {
            throw refusal;
        }
    }

    /**
     * Acquires all locks, and waits without limit for each in turn. The hold count of a lock that the thread holds goes
     * up. An interrupt does not end the wait; its flag is set again on return.
     *
     * @throws LockNotAcquiredException as {@link NamedLock#lock}; none of them is held then
     * @throws LockUnavailableException as {@link NamedLock#lock}; none of them is held then
     */
    @Override
    public void lock() {
        requireAcquired(acquireUninterruptibly(lock -> {
            lock.lock();
            return true;
        }));
    }

    /**
     * As {@link #lock()}, but an interrupt ends the wait.
     *
     * @throws InterruptedException if interrupted before or during the wait; none of them is held then, and the flag is
     *     clear
     */
    @Override
    public void lockInterruptibly() throws InterruptedException {
        requireAcquired(acquire(
                lock -> {
                    lock.lockInterruptibly();
                    return true;
                },
                true));
    }

    /**
     * Tries each lock once.
     *
     * @return false if another caller holds one of them or waits for it; none of them is held then
     * @throws LockUnavailableException if Redis is not available; none of them is held then
     */
    @Override
    public boolean tryLock() {
        return acquireUninterruptibly(NamedLock::tryLock) == null;
    }

    /**
     * As {@link #lockInterruptibly()}, but waits at most the given time for all of them; zero or less tries each once.
     *
     * @return false if the time passed first; none of them is held then
     */
    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        long deadline = Timer.systemNanoTime() + Math.max(0, unit.toNanos(time));
        return acquire(lock -> lock.tryLock(deadline - Timer.systemNanoTime(), TimeUnit.NANOSECONDS), true) == null;
    }

    // --- release ----------------------------------------------------------------------------------------------

    /**
     * Gives up one hold of each lock, in reverse order, even if one of the releases fails.
     *
     * @throws IllegalMonitorStateException if the current thread does not hold one of them
     * @throws LockLostException if one of them was lost; further failures are suppressed exceptions of the first
     */
    @Override
    public void unlock() {
        List<LockContext> held = new ArrayList<>(locks.size());
        locks.forEach(lock -> held.add(0, new LockContext(lock, null, null)));
        HeldLocks.of(held).release(true);
    }

    /**
     * Not supported.
     *
     * @throws UnsupportedOperationException always
     */
    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("a distributed lock does not support conditions");
    }

    // --- state ------------------------------------------------------------------------------------------------

    /** {@return how often the current thread may call {@link #unlock()}: the smallest hold count of the locks} */
    public int getHoldCount() {
        return locks.stream().mapToInt(NamedLock::getHoldCount).min().orElse(0);
    }

    /**
     * {@return whether the current thread holds all of them, and no lease can have run out yet} As
     * {@link NamedLock#isHeldByCurrentThread}.
     */
    public boolean isHeldByCurrentThread() {
        return locks.stream().allMatch(NamedLock::isHeldByCurrentThread);
    }

    /**
     * {@return whether at least one of them is held, so that no other caller can hold all; queries one lock after the
     * other} As {@link NamedLock#isLocked}.
     *
     * @throws LockUnavailableException if Redis is not available
     */
    public boolean isLocked() {
        return locks.stream().anyMatch(NamedLock::isLocked);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof MultiLock all && all.locks.equals(locks);
    }

    @Override
    public int hashCode() {
        return locks.hashCode();
    }

    @Override
    public String toString() {
        return getNames().stream().map(LockNames::printable).collect(Collectors.joining(", ", "MultiLock[", "]"));
    }
}
