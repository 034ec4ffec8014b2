package io.github.lockboot.sample.live;

import io.github.lockboot.sample.NeedsLocks;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.stereotype.Component;

/** How to start another instance on the Redis of this one. */
@Component
@NeedsLocks
class SecondInstance {

    private final LettuceConnectionFactory redis;

    SecondInstance(LettuceConnectionFactory redis) {
        this.redis = redis;
    }

    /** A command for the root of the repository. It contains no password. */
    String command() {
        return ("./mvnw -Dmaven.test.skip spring-boot:run"
                        + " -Dspring-boot.run.arguments=\"--server.port=0 --spring.data.redis.url=%s\"")
                .formatted(url());
    }

    private String url() {
        boolean plain = !redis.isClusterAware() && !redis.isRedisSentinelAware() && !redis.isUseSsl();
        return plain && redis.getPassword() == null
                ? "redis://%s:%d/%d".formatted(redis.getHostName(), redis.getPort(), redis.getDatabase())
                : "<url of the same Redis>";
    }
}
