package io.github.lockboot.sample.payment;

import java.util.concurrent.TimeUnit;

import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.NamedLock;

/** What to do: the lease ends soon after a crash and not before the work does, and a release is one step. */
class LibraryLock implements AccountLock {

    private static final LockOptions OPTIONS =
            LockOptions.defaults().withTtl(PaymentService.LEASE).withRenewal();

    private final LockRegistry locks;

    LibraryLock(LockRegistry locks) {
        this.locks = locks;
    }

    @Override
    public Release acquire(String accountId) throws InterruptedException {
        NamedLock lock = locks.get(name(accountId), OPTIONS);
        if (!lock.tryLock(PaymentService.PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new LockNotAcquiredException(lock.getName(), PaymentService.PATIENCE);
        }
        return pause -> {
            try {
                Thread.sleep(pause.toMillis());
            } finally {
                lock.unlock();
            }
        };
    }

    /**
     * When a process dies, its renewals end, and its lease a little later. To Redis, a crash is a lease that is not
     * renewed.
     */
    @Override
    public void crash(String accountId) throws InterruptedException {
        locks.acquire(name(accountId), OPTIONS.withoutRenewal().withWaitTime(PaymentService.PATIENCE));
    }

    static String name(String accountId) {
        return "payment:" + accountId;
    }
}
