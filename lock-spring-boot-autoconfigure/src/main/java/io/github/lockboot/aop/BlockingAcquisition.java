package io.github.lockboot.aop;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockRuntime;
import io.github.lockboot.NamedLock;
import io.github.lockboot.internal.Futures;

/**
 * Takes all locks of a call or none, one after the other, on a thread that waits. If one was lost while another was waited for,
 * all are given back and taken anew, as long as there is time.
 */
final class BlockingAcquisition {

    private BlockingAcquisition() {}

    /**
     * Waits in all no longer than each of them may.
     *
     * @throws LockNotAcquiredException if the thread is interrupted, which is no contention; nothing is held then
     *
     * @throws LockLostException if one was lost on the way and there is no time to take all anew; nothing is held then
     * @throws io.github.lockboot.LockUnavailableException if Redis could not be asked; nothing is held then
     */
    static Attempt take(List<WantedLock> wanted) {
        long start = System.nanoTime();
        while (true) {
            try {
                return takeEach(wanted, start);
            } catch (LockLostException lost) {
                if (!WantedLock.mayWait(wanted, start)) {
                    throw lost;
                }
            }
        }
    }

    private static Attempt takeEach(List<WantedLock> wanted, long start) {
        HeldLocks held = new HeldLocks(wanted.size());
        try {
            for (WantedLock next : wanted) {
                try {
                    held.add(take(next, start));
                } catch (LockNotAcquiredException contention) {
                    held.releaseAfter(contention);
                    return new Attempt.Refusal(next.spec(), contention);
                } catch (InterruptedException interrupt) {
                    Thread.currentThread().interrupt();
                    throw new LockNotAcquiredException(next.name(), since(start), interrupt);
                }
            }
            held.checkBeforeUse();
            return held;
        } catch (RuntimeException | Error failure) {
            held.releaseAfter(failure);
            throw failure;
        }
    }

    private static HeldLock take(WantedLock wanted, long start) throws InterruptedException {
        return wanted.spec().keep() == null ? lock(wanted, start) : lease(wanted, start);
    }

    private static HeldLock lock(WantedLock wanted, long start) throws InterruptedException {
        NamedLock lock = wanted.lock();
        if (!lock.tryLock(TimeUnit.NANOSECONDS.convert(WantedLock.waitLeft(lock, start)), TimeUnit.NANOSECONDS)) {
            throw new LockNotAcquiredException(wanted.name(), since(start));
        }
        return new HeldLock.ByThread(lock, LockRuntime.contextOf(lock));
    }

    private static HeldLock lease(WantedLock wanted, long start) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        Lease lease = Futures.await(wanted.acquireAsync(start));
        return HeldLock.ByCall.of(lease, wanted.spec().keep());
    }

    private static Duration since(long startNanos) {
        return Duration.ofNanos(System.nanoTime() - startNanos);
    }
}
