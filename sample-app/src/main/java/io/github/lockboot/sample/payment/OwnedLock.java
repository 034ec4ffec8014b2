package io.github.lockboot.sample.payment;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

/**
 * <strong>What not to do</strong>: between the check whose lock it is and the delete, the lock may expire and another may get it. And
 * work that outlasts the expiry still goes on beside the next holder.
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
