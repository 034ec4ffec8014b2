package io.github.lockboot.sample.payment;

import java.time.Duration;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.Work;
import org.springframework.stereotype.Service;

/** What to do: the lease ends soon after a crash and not before the work does, and a release is one step. */
@Service
@NeedsLocks
class LibraryLock implements AccountLock {

    private final LockRegistry locks;

    LibraryLock(LockRegistry locks) {
        this.locks = locks;
    }

    @DistributedLock(name = "payment", key = "#accountId", ttl = "2s", waitTime = "5s")
    @Override
    public <T> T pay(String accountId, Duration late, Work<T, InterruptedException> payment)
            throws InterruptedException {
        T paid = payment.run();
        Thread.sleep(late.toMillis());
        return paid;
    }

    /**
     * When a process dies, its renewals end, and its lease a little later. To Redis, a crash is a lease that is not
     * renewed.
     */
    @Override
    public void crash(String accountId) throws InterruptedException {
        locks.acquire(
                name(accountId),
                LockOptions.defaults()
                        .withoutRenewal()
                        .withTtl(PaymentService.LEASE)
                        .withWaitTime(PaymentService.PATIENCE));
    }

    static String name(String accountId) {
        return "payment:" + accountId;
    }
}
