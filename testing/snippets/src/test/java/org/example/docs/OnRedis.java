package org.example.docs;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** A reader's application, auto-configured, on a real Redis that all of these tests share. */
@SpringBootTest(
        webEnvironment = SpringBootTest.WebEnvironment.NONE,
        properties = {
            "spring.main.banner-mode=off",
            "lock.startup-check=off",
            "lock.shutdown-grace-period=0",
            "lock.redis.command-timeout=10s", // the first command also loads classes
            "spring.autoconfigure.exclude=org.springframework.boot.autoconfigure.batch.BatchAutoConfiguration,"
                    + "org.springframework.boot.autoconfigure.quartz.QuartzAutoConfiguration"
        })
abstract class OnRedis {

    static final LockOptions ONCE = LockOptions.defaults().withWaitTime(Duration.ZERO);

    private static final RedisServer REDIS = RedisServer.start();

    @Autowired
    RedisLockRegistry registry;

    @Autowired
    LockTemplate template;

    @Autowired
    RedisConnectionFactory redis;

    private final List<RedisLockRegistry> others = new ArrayList<>();

    @DynamicPropertySource
    static void redisIsHere(DynamicPropertyRegistry properties) {
        properties.add("spring.data.redis.host", REDIS::host);
        properties.add("spring.data.redis.port", REDIS::port);
    }

    /** Another instance of the application. */
    LockRegistry anotherInstance() {
        RedisLockRegistry other = RedisLockRegistry.builder(redis)
                .commandTimeout(Duration.ofSeconds(10))
                .build();
        others.add(other);
        return other;
    }

    @AfterEach
    void closeOthers() {
        others.forEach(RedisLockRegistry::close);
    }

    /** What Redis answers to a command. */
    static Object redis(String... command) {
        return REDIS.command(command);
    }

    /** Has it called by that many threads at once. */
    static <T> List<T> atOnce(int threads, Callable<T> call) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            List<T> results = new ArrayList<>();
            for (Future<T> result : executor.invokeAll(Collections.nCopies(threads, call))) {
                results.add(result.get(60, TimeUnit.SECONDS));
            }
            return results;
        } finally {
            executor.shutdownNow();
        }
    }
}
