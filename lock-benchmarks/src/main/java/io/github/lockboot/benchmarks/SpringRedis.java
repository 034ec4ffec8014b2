package io.github.lockboot.benchmarks;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The connection factory that the contenders on Spring Data Redis share the making of. */
final class SpringRedis {

    private SpringRedis() {}

    static LettuceConnectionFactory connect(String host, int port) {
        LettuceConnectionFactory factory = new LettuceConnectionFactory(host, port);
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }
}
