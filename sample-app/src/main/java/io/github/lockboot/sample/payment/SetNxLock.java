package io.github.lockboot.sample.payment;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

/** <strong>What not to do</strong>: without an expiry, the first holder that dies locks out all others for ever. */
@Component
class SetNxLock extends HandMadeLock {

    SetNxLock(StringRedisTemplate redis) {
        super(redis);
    }

    @Override
    public String mode() {
        return "setnx";
    }

    @Override
    boolean tryOnce(String key, String me) {
        return Boolean.TRUE.equals(redis.opsForValue().setIfAbsent(key, me));
    }

    @Override
    void release(String key, String me, Pause pause) throws InterruptedException {
        pause.run();
        redis.delete(key);
    }
}
