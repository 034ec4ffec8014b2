package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.List;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.lockboot.Actor;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.Finding;
import io.github.lockboot.redis.GrantChannels;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** A context that is stopped and started again, as the test framework does between classes, and a checkpoint. */
@ExtendWith(OutputCaptureExtension.class)
class LockRestartTests {

    private final Logger log = (Logger) LoggerFactory.getLogger("io.github.lockboot");
    private RedisServer server;

    @BeforeEach
    void start() {
        log.setLevel(Level.INFO);
        server = RedisServer.start();
    }

    @AfterEach
    void stop() {
        log.setLevel(null);
        server.close();
    }

    static class Locked {
        @DistributedLock(name = "locked")
        void run() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class Own {

        @Bean
        static LettuceConnectionFactory redis(@Value("${redis.port}") int port) {
            return new LettuceConnectionFactory("127.0.0.1", port);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Qualified {

        @Bean
        @Qualifier("distributedLock")
        static LettuceConnectionFactory forLocks(@Value("${redis.port}") int port) {
            return new LettuceConnectionFactory("127.0.0.1", port);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "io.github.lockboot.autoconfigure.LockRestartTests$Own, warn",
        "io.github.lockboot.autoconfigure.LockRestartTests$Qualified, warn",
        "io.github.lockboot.autoconfigure.LockRestartTests$Qualified, fail"
    })
    void itFindsNothingWrongWithAFitRedisAndLogsNothing(Class<?> redis, String check, CapturedOutput output) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
                .withPropertyValues("lock.startup-check=" + check, "redis.port=" + server.port())
                .withUserConfiguration(redis)
                .withBean(Locked.class)
                .run(context -> {
                    RedisLockRegistry registry = context.getBean(RedisLockRegistry.class);
                    for (int round = 0; round < 10; round++) {
                        Actor.await("it listens", () -> GrantChannels.isLive(registry));
                        context.getSourceApplicationContext().stop();
                        Actor.pass(Duration.ofMillis(round == 0 ? 3_000 : 300));
                        context.getSourceApplicationContext().start();
                        context.getBean(LockTemplate.class).execute("a", () -> null);
                    }
                    Actor.await("it listens", () -> GrantChannels.isLive(registry));
                    assertThat(registry.check().join()).isEqualTo(List.<Finding>of());
                    assertThat(output.getAll()
                                    .lines()
                                    .filter(line -> line.contains("WARN") && line.contains("lockboot"))
                                    .filter(line -> !line.contains("Lock lost:"))) // by tests that have ended
                            .isEmpty();
                });
    }
}
