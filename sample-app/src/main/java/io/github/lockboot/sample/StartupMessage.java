package io.github.lockboot.sample;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.stereotype.Component;

/** Logs where the sample listens, which Redis it uses and what to try first. */
@Component
class StartupMessage {

    private static final Logger log = LoggerFactory.getLogger(StartupMessage.class);

    private final LettuceConnectionFactory redis;

    StartupMessage(LettuceConnectionFactory redis) {
        this.redis = redis;
    }

    @EventListener
    void log(ApplicationReadyEvent ready) {
        Environment environment = ready.getApplicationContext().getEnvironment();
        String url = "http://localhost:" + environment.getProperty("local.server.port");
        log.info("""
                The sample is at {} and uses {} as its Redis. Open the page, or try
                  curl -X POST '{}/red-packets?amount=100.00&count=50'
                  curl -X POST '{}/red-packets/<id>/grab?openid=o1'""", url, redisAddress(), url, url);
    }

    /** Without user name and password, which {@code spring.data.redis.url} may contain. */
    private String redisAddress() {
        RedisClusterConfiguration cluster = redis.getClusterConfiguration();
        if (cluster != null) {
            return "cluster " + cluster.getClusterNodes();
        }
        RedisSentinelConfiguration sentinel = redis.getSentinelConfiguration();
        if (sentinel != null) {
            return "sentinels " + sentinel.getSentinels();
        }
        return (redis.isUseSsl() ? "rediss://" : "redis://") + redis.getHostName() + ":" + redis.getPort();
    }
}
