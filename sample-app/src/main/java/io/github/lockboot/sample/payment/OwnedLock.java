package io.github.lockboot.sample.payment;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

/**
 * <strong>What not to do</strong>: between looking whose lock it is and deleting it, it may expire and become another's. And work that
 * outlasts the expiry still goes on beside the next holder.
 */
@Component
class OwnedLock extends HandMadeLock {

    OwnedLock(StringRedisTemplate redis) {
        super(redis);
    }

    @Override
    public String mode() {
        return "owned";
    }

    @Override
    boolean tryOnce(String key, String me) {
        return Boolean.TRUE.equals(redis.opsForValue().setIfAbsent(key, me, EXPIRY));
    }

    @Override
    void release(String key, String me, Pause pause) throws InterruptedException {
        if (me.equals(redis.opsForValue().get(key))) {
            pause.run();
            redis.delete(key);
        }
    }
}
