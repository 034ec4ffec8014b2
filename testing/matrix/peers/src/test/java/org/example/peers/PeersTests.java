package org.example.peers;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import com.baomidou.lock.annotation.Lock4j;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.fixture.RedisServer;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.springframework.boot.Banner;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

import static org.assertj.core.api.Assertions.assertThat;

/** One application with five kinds of distributed locks; Redisson's connection factory is the one of all. */
class PeersTests {

    private static RedisServer redis;
    private static ConfigurableApplicationContext application;

    @BeforeAll
    static void start() {
        redis = RedisServer.start();
        application = new SpringApplicationBuilder(Application.class)
                .bannerMode(Banner.Mode.OFF)
                .properties("lock.redis.command-timeout=10s", "lock.startup-check=off")
                .run("--spring.data.redis.host=" + redis.host(), "--spring.data.redis.port=" + redis.port());
    }

    @AfterAll
    static void stop() {
        application.close();
        redis.close();
    }

    /** Some peers leave keys behind for a while. */
    @BeforeEach
    void forget() {
        redis.command("FLUSHALL");
    }

    private static Set<String> keys() {
        Set<String> keys = new TreeSet<>();
        ((List<?>) redis.command("KEYS", "*")).forEach(key -> keys.add((String) key));
        return keys;
    }

    @Test
    void ourAnnotationLocks() {
        assertThat(application.getBean(Work.class).ours("1")).containsExactly("lock:ours 1");
        assertThat(keys()).isEmpty();
    }

    @Test
    void ourLocksHandOver() throws Exception {
        LockRegistry registry = application.getBean("lockbootLockRegistry", LockRegistry.class);
        registry.get("a").lock();
        var waiting = registry.acquireAsync("a", LockOptions.defaults());
        assertThat(waiting).isNotDone();
        registry.get("a").unlock();
        waiting.get().close();
        assertThat(application.getBean("lockbootLockTemplate", LockTemplate.class)
                        .execute("a", () -> keys()))
                .containsExactly("lock:a");
    }

    @Test
    void theAnnotationOfLock4jLocks() {
        assertThat(application.getBean(Work.class).ofLock4j("1")).hasSize(1).noneMatch(key -> key.startsWith("lock:"));
        assertThat(application.getBean(com.baomidou.lock.LockTemplate.class)).isNotNull();
    }

    @Test
    void bothAnnotationsOnOneMethodLock() {
        assertThat(application.getBean(Work.class).both("2")).hasSize(2).contains("lock:both 2");
    }

    @Test
    void theRegistryOfSpringIntegrationLocks() {
        var lock = application.getBean(RedisLockRegistry.class).obtain("order");
        lock.lock();
        assertThat(keys()).containsExactly("integration:order");
        lock.unlock();
    }

    @Test
    void theProviderOfShedLockLocks() {
        LockConfiguration job = new LockConfiguration(Instant.now(), "job", Duration.ofMinutes(1), Duration.ZERO);
        SimpleLock lock = application.getBean(LockProvider.class).lock(job).orElseThrow();
        assertThat(keys()).hasSize(1).allMatch(key -> key.startsWith("job-lock:"));
        lock.unlock();
    }

    @Test
    void theLockOfRedissonLocks() {
        RLock lock = application.getBean(RedissonClient.class).getLock("rlock");
        lock.lock();
        assertThat(keys()).containsExactly("rlock");
        lock.unlock();
    }

    public static class Work {

        @DistributedLock(key = "'ours ' + #id")
        public Set<String> ours(String id) {
            return keys();
        }

        @Lock4j(keys = "#id")
        public Set<String> ofLock4j(String id) {
            return keys();
        }

        @Lock4j(keys = "#id")
        @DistributedLock(key = "'both ' + #id")
        public Set<String> both(String id) {
            return keys();
        }
    }

    @SpringBootApplication
    static class Application {

        @Bean
        Work work() {
            return new Work();
        }

        @Bean(destroyMethod = "destroy")
        RedisLockRegistry lockRegistry(RedisConnectionFactory redis) {
            return new RedisLockRegistry(redis, "integration");
        }

        @Bean
        LockProvider lockProvider(RedisConnectionFactory redis) {
            return new RedisLockProvider(redis);
        }
    }
}
