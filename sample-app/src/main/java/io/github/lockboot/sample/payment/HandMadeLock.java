package io.github.lockboot.sample.payment;

import java.time.Duration;
import java.util.UUID;

import io.github.lockboot.LockNotAcquiredException;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * <strong>What not to do</strong>: the usual loop around {@code SET NX}. Each subclass is a little better than the one before,
 * and none is right.
 */
abstract class HandMadeLock implements AccountLock {

    static final Duration EXPIRY = PaymentService.LEASE;

    private static final Duration INTERVAL = Duration.ofMillis(5);

    protected final StringRedisTemplate redis;

    HandMadeLock(StringRedisTemplate redis) {
        this.redis = redis;
    }

    /** @param me differs in each call */
    abstract boolean tryOnce(String key, String me);

    abstract void release(String key, String me, Pause pause) throws InterruptedException;

    @Override
    public final Release acquire(String accountId) throws InterruptedException {
        String key = key(accountId);
        String me = UUID.randomUUID().toString();
        long start = System.nanoTime();
        while (!tryOnce(key, me)) {
            Duration waited = Duration.ofNanos(System.nanoTime() - start);
            if (waited.compareTo(PaymentService.PATIENCE) > 0) {
                throw new LockNotAcquiredException(key, waited);
            }
            Thread.sleep(INTERVAL.toMillis());
        }
        return pause -> release(key, me, pause);
    }

    @Override
    public final void clear(String accountId) {
        redis.delete(key(accountId));
    }

    private String key(String accountId) {
        return "hand-made-lock:" + mode() + ":" + accountId;
    }
}
