package io.github.lockboot.benchmarks;

import java.util.List;
import java.util.concurrent.locks.Lock;

import com.baomidou.lock.LockInfo;
import com.baomidou.lock.LockTemplate;
import com.baomidou.lock.executor.RedisTemplateLockExecutor;
import com.baomidou.lock.spring.boot.autoconfigure.Lock4jProperties;
import io.github.lockboot.harness.Contender;
import io.github.lockboot.harness.PlainLock;
import io.github.lockboot.harness.RedisAddress;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/** lock4j on RedisTemplate, with its default lease and its default pause of 100 ms between attempts. Not reentrant. */
final class Lock4j implements Contender {

    private static final long LONGEST_WAIT_MILLIS = 60_000;

    @Override
    public String name() {
        return "lock4j";
    }

    @Override
    public String key(String lock) {
        return "lock4j:" + lock;
    }

    @Override
    public String settings() {
        return "its defaults, and an acquire timeout of " + LONGEST_WAIT_MILLIS + " ms";
    }

    @Override
    public Client connect(RedisAddress redis) {
        LettuceConnectionFactory factory = redis.forSpring();
        Lock4jProperties properties = new Lock4jProperties();
        LockTemplate template =
                templateOf(properties, new RedisTemplateLockExecutor(new StringRedisTemplate(factory), properties));
        return new Client() {

            @Override
            public Lock lock(String name) {
                return new TemplateLock(template, key(name), properties.getExpire());
            }

            @Override
            public void close() {
                factory.destroy();
            }
        };
    }

    private static LockTemplate templateOf(Lock4jProperties properties, RedisTemplateLockExecutor executor) {
        LockTemplate template = new LockTemplate();
        template.setProperties(properties);
        template.setExecutors(List.of(executor));
        try {
            template.afterPropertiesSet();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        return template;
    }

    private static final class TemplateLock extends PlainLock {

        private final LockTemplate template;
        private final String key;
        private final long leaseMillis;
        private @Nullable LockInfo held;

        TemplateLock(LockTemplate template, String key, long leaseMillis) {
            this.template = template;
            this.key = key;
            this.leaseMillis = leaseMillis;
        }

        @Override
        public void lock() {
            held = template.lock(key, leaseMillis, LONGEST_WAIT_MILLIS);
            if (held == null) {
                throw new IllegalStateException("not acquired within " + LONGEST_WAIT_MILLIS + " ms");
            }
        }

        @Override
        public void unlock() {
            if (!template.releaseLock(held)) {
                throw new IllegalMonitorStateException(key);
            }
        }
    }
}
