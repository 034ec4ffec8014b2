package io.github.lockboot.harness;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.HotSwappableTargetSource;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A connection factory as a refresh scope has it: behind a class-based proxy, which stays while the factory is
 * replaced.
 */
final class RefreshedFactory {

    private final HotSwappableTargetSource target;
    private final LettuceConnectionFactory proxy;

    RefreshedFactory(RedisAddress redis) {
        target = new HotSwappableTargetSource(factory(redis));
        ProxyFactory made = new ProxyFactory();
        made.setTargetSource(target);
        made.setProxyTargetClass(true);
        proxy = (LettuceConnectionFactory) made.getProxy();
    }

    LettuceConnectionFactory proxy() {
        return proxy;
    }

    /** Replaces the factory, and uses the new one as the application does. */
    void refresh(RedisAddress redis) {
        ((LettuceConnectionFactory) target.swap(factory(redis))).destroy();
        try (RedisConnection connection = proxy.getConnection()) {
            connection.ping();
        }
    }

    /** Made as Spring Boot makes that of one server. */
    private static LettuceConnectionFactory factory(RedisAddress redis) {
        return RedisAddress.started(new LettuceConnectionFactory((RedisStandaloneConfiguration) redis.configuration()));
    }
}
