package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.function.UnaryOperator;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.lockboot.Actor;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.LogVolume;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.GrantChannels;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.connection.PubSubGrantChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
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

/** What an application has connected when its start is over. */
@ExtendWith(OutputCaptureExtension.class)
class LockConnectTests {

    private final Logger log = (Logger) LoggerFactory.getLogger("io.github.lockboot");
    private RedisServer server;
    private ApplicationContextRunner runner;

    @BeforeEach
    void start() {
        log.setLevel(Level.INFO);
        server = RedisServer.start();
        runner = new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
                .withPropertyValues("lock.startup-check=off", "lock.redis.command-timeout=20s")
                .withBean(
                        LettuceConnectionFactory.class,
                        () -> new LettuceConnectionFactory(server.host(), server.port()));
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

    static class WithTemplate {
        WithTemplate(LockTemplate template) {}
    }

    static class WithRegistry {
        WithRegistry(LockRegistry registry) {}
    }

    private long scriptsRun() {
        return String.valueOf(server.command("INFO", "commandstats"))
                .lines()
                .filter(line -> line.startsWith("cmdstat_eval"))
                .count();
    }

    private void assertConnected(UnaryOperator<ApplicationContextRunner> with, boolean connected) {
        with.apply(runner).run(context -> {
            assertThat(context).hasNotFailed();
            if (connected) {
                Actor.await("connected", () -> scriptsRun() > 0); // a busy machine needs more than the start waits
                RedisLockRegistry registry = context.getBean(RedisLockRegistry.class);
                Actor.await("listening", () -> GrantChannels.isLive(registry));
            } else {
                assertThat(scriptsRun()).isZero();
            }
        });
    }

    @ParameterizedTest
    @ValueSource(classes = {Locked.class, WithTemplate.class, WithRegistry.class})
    void anApplicationThatUsesLocksIs(Class<?> user) {
        assertConnected(application -> application.withBean(user), true);
    }

    @ParameterizedTest
    @ValueSource(classes = {Locked.class, WithTemplate.class, WithRegistry.class})
    void aChildContextThatUsesTheParentsLocksConnectsThem(Class<?> user) {
        runner.run(parent -> assertConnected(child -> child.withParent(parent).withBean(user), true));
    }

    @Test
    void anApplicationThatUsesNoneIsNot() {
        assertConnected(application -> application, false);
    }

    @Test
    void itCanBeLeftToTheFirstLock() {
        assertConnected(
                application ->
                        application.withBean(Locked.class).withPropertyValues("lock.redis.connect-at-startup=false"),
                false);
    }

    @Test
    void withoutRedisTheCheckAloneSaysSo(CapturedOutput output) {
        server.kill();
        runner.withBean(Locked.class)
                .withPropertyValues("lock.startup-check=warn")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    Actor.await("the warning", () -> output.getAll().contains("Redis could not be checked ("));
                    assertThat(output.getAll().lines().filter(line -> line.contains("WARN")))
                            .hasSize(1);
                });
    }

    /** It accepts connections and never answers. */
    @Test
    void theStartDoesNotWaitForARedisThatHangs() {
        server.pause();
        runner.withBean(Locked.class).run(context -> {
            assertThat(context).hasNotFailed();
            server.resume();
            context.getBean(LockTemplate.class).execute("a", () -> null);
        });
    }

    @Test
    void connectingGoesOnWhereTheStartFoundARedisThatHangs() {
        server.pause();
        runner.withBean(Locked.class)
                .withPropertyValues("lock.redis.command-timeout=200ms")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    Actor.pass(Duration.ofSeconds(1)); // the attempts of the start have failed
                    server.resume();
                    RedisLockRegistry registry = context.getBean(RedisLockRegistry.class);
                    Actor.await("listening", () -> GrantChannels.isLive(registry));
                });
    }

    @Test
    void connectingGoesOnWhereTheStartFoundNoRedis() {
        server.kill();
        runner.withBean(Locked.class).run(context -> {
            assertThat(context).hasNotFailed();
            server.restart();
            RedisLockRegistry registry = context.getBean(RedisLockRegistry.class);
            Actor.await("listening", () -> GrantChannels.isLive(registry));
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class Qualified {

        @Bean
        @Qualifier("distributedLock")
        static LettuceConnectionFactory forLocks(@Value("${redis.port}") int port) {
            return new LettuceConnectionFactory("127.0.0.1", port);
        }
    }

    @Test
    void theShutdownLogsNothingWhereTheFactoryIsQualified() {
        try (LogVolume log = new LogVolume()) {
            new ApplicationContextRunner()
                    .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
                    .withPropertyValues("lock.startup-check=off", "redis.port=" + server.port())
                    .withUserConfiguration(Qualified.class)
                    .withBean(Locked.class)
                    .withBean(SlowToStop.class)
                    .run(context -> {
                        RedisLockRegistry registry = context.getBean(RedisLockRegistry.class);
                        registry.connect();
                        Actor.await("listening", () -> GrantChannels.isLive(registry));
                    });
            assertThat(log.lines(PubSubGrantChannel.class.getName())).isEmpty();
            assertThat(log.bytes()).as("%s", log).isLessThan(1_000);
        }
    }

    /** It is destroyed when the connection factory has stopped, and before the registry is. */
    static class SlowToStop implements DisposableBean {

        SlowToStop(LockRegistry registry) {}

        @Override
        public void destroy() {
            Actor.pass(Duration.ofSeconds(1));
        }
    }
}
