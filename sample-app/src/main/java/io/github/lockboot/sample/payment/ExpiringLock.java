package io.github.lockboot.sample.payment;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

/**
 * <strong>What not to do</strong>: work that outlasts the expiry goes on beside the next holder. It then deletes the lock of that
 * holder, which lets in a third.
 */
@Component
class ExpiringLock extends HandMadeLock {

    ExpiringLock(StringRedisTemplate redis) {
        super(redis);
    }

    @Override
    public String mode() {
        return "expiring";
    }

    @Override
    boolean tryOnce(String key, String me) {
        return Boolean.TRUE.equals(redis.opsForValue().setIfAbsent(key, me, EXPIRY));
    }

    @Override
    void release(String key, String me, Pause pause) throws InterruptedException {
        pause.run();
        redis.delete(key);
    }
}
