package io.github.lockboot.sample.payment;

import java.time.Duration;
import java.util.UUID;

import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.sample.live.Work;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * <strong>What not to do</strong>: the usual loop around {@code SET NX}. Each mode is a little better than the one
 * before, and none is right.
 */
class HandMadeLock implements AccountLock {

    private static final Duration INTERVAL = Duration.ofMillis(20);

    private final String mode;
    private final StringRedisTemplate redis;

    HandMadeLock(String mode, StringRedisTemplate redis) {
        this.mode = mode;
        this.redis = redis;
    }

    @Override
    public <T> T pay(String accountId, Duration late, Work<T, InterruptedException> payment)
            throws InterruptedException {
        String key = key(accountId);
        String me = UUID.randomUUID().toString();
        acquire(key, me, INTERVAL);
        try {
            return payment.run();
        } finally {
            release(key, me, late);
        }
    }

    private void acquire(String key, String me, Duration interval) throws InterruptedException {
        long start = System.nanoTime();
        while (!tryOnce(key, me)) {
            Duration waited = Duration.ofNanos(System.nanoTime() - start);
            if (waited.compareTo(PaymentService.PATIENCE) > 0) {
                throw new LockNotAcquiredException(key, waited);
            }
            Thread.sleep(interval.toMillis());
        }
    }

    /**
     * Without an expiry, the first holder that dies locks out all others for ever. With one, work that outlasts it goes
     * on beside the next holder.
     */
    private boolean tryOnce(String key, String me) {
        return Boolean.TRUE.equals(
                mode.equals("setnx")
                        ? redis.opsForValue().setIfAbsent(key, me)
                        : redis.opsForValue().setIfAbsent(key, me, PaymentService.LEASE));
    }

    /**
     * Who does not look whose lock it is deletes that of the next holder, which lets in a third. Who does may still do
     * so: between the look and the delete, the lock may expire and another may get it.
     */
    private void release(String key, String me, Duration late) throws InterruptedException {
        if (!mode.equals("owned") || me.equals(redis.opsForValue().get(key))) {
            Thread.sleep(late.toMillis());
            redis.delete(key);
        }
    }

    /** Asks more often than others, because no lock of this kind has a queue. */
    @Override
    public void crash(String accountId) throws InterruptedException {
        acquire(key(accountId), "a process that is gone", Duration.ofMillis(1));
    }

    @Override
    public void clear(String accountId) {
        redis.delete(key(accountId));
    }

    private String key(String accountId) {
        return "hand-made-lock:" + mode + ":" + accountId;
    }
}
