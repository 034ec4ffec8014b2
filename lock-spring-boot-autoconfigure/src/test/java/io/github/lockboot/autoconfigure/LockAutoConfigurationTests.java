package io.github.lockboot.autoconfigure;

import java.time.Duration;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.LogReader;
import io.github.lockboot.RecordingLockRegistry;
import io.github.lockboot.internal.Troubleshooting;
import io.github.lockboot.memory.MemoryLockRegistry;
import io.github.lockboot.redis.RedisLockRegistry;
import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

class LockAutoConfigurationTests {

    private final ApplicationContextRunner runner =
            new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class));

    @Test
    void bootFindsIt() {
        assertThat(ImportCandidates.load(AutoConfiguration.class, null))
                .contains(LockAutoConfiguration.class.getName());
    }

    @Test
    void bootFindsItsFailureAnalyzer() {
        assertThat(SpringFactoriesLoader.forDefaultResourceLocation()
                        .load(FailureAnalyzer.class, FailureHandler.logging(LogFactory.getLog(getClass()))))
                .hasAtLeastOneElementOfType(LockFailureAnalyzer.class);
    }

    @Test
    void theApplicationsLockRegistryWins() {
        runner.withBean(RecordingLockRegistry.class).run(context -> {
            assertThat(context).hasSingleBean(LockRegistry.class).hasSingleBean(RecordingLockRegistry.class);
            context.getBean(LockTemplate.class).execute("name", () -> null);
            assertThat(context.getBean(RecordingLockRegistry.class).names()).containsExactly("name");
        });
    }

    @Test
    void theApplicationsLockTemplateWins() {
        LockTemplate own = new LockTemplate(new RecordingLockRegistry(), Duration.ZERO);
        runner.withBean(RecordingLockRegistry.class)
                .withBean("own", LockTemplate.class, () -> own)
                .run(context -> assertThat(context).getBean(LockTemplate.class).isSameAs(own));
    }

    @Test
    void amongSeveralLockRegistriesWithoutChoiceTheActionIsNamed() {
        runner.withBean("one", LockRegistry.class, RecordingLockRegistry::new)
                .withBean("other", LockRegistry.class, RecordingLockRegistry::new)
                .run(context -> {
                    FailureAnalysis analysis = new LockFailureAnalyzer().analyze(context.getStartupFailure());
                    assertThat(analysis.getDescription())
                            .isEqualTo(
                                    "Distributed locks found several LockRegistry beans, but none of them is primary.");
                    assertThat(analysis.getAction())
                            .startsWith("Annotate one of them with @Primary, or the others with a @Qualifier and"
                                    + " @Bean(defaultCandidate = false).\n\nSee https://");
                });
    }

    @Test
    void amongSeveralLockTemplatesWithoutChoiceTheStartFailsIfAMethodIsLocked() {
        LockRegistry registry = new RecordingLockRegistry();
        ApplicationContextRunner several = runner.withBean(LockRegistry.class, () -> registry)
                .withBean("one", LockTemplate.class, () -> new LockTemplate(registry))
                .withBean("other", LockTemplate.class, () -> new LockTemplate(registry));
        several.run(context -> assertThat(context).hasNotFailed());
        several.withBean(Locked.class).run(context -> {
            FailureAnalysis analysis = new LockFailureAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis.getDescription())
                    .isEqualTo("Distributed locks found several LockTemplate beans, but none of them is primary.");
        });
    }

    static class Locked {

        @DistributedLock(name = "x")
        public void run() {}
    }

    @Test
    void thereIsNothingWhenDisabled() {
        runner.withPropertyValues("lock.enabled=false")
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .doesNotHaveBean(LockRegistry.class)
                        .doesNotHaveBean(LockTemplate.class)
                        .doesNotHaveBean("lockbootLockAdvisor"));
    }

    @Test
    void aWarningSaysThatItIsDisabled() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(DisabledLockAutoConfiguration.class))
                .withPropertyValues("lock.enabled=false")
                .run(context -> assertThat(context).hasSingleBean(DisabledLockAutoConfiguration.class));
        try (LogReader log = new LogReader()) {
            new DisabledLockAutoConfiguration();
            assertThat(log.warnings())
                    .containsExactly(
                            "lock.enabled=false: methods with @DistributedLock and @ScheduledLock run without a lock");
        }
    }

    @Test
    void locksAreOnTheApplicationsRedis() {
        runner.withUserConfiguration(OneRedis.class)
                .run(context ->
                        assertThat(context).getBean("lockbootLockRegistry").isInstanceOf(RedisLockRegistry.class));
    }

    /** As {@code LOCK_TYPE=} in the environment. */
    @Test
    void anEmptyTypeIsTheDefault() {
        runner.withUserConfiguration(OneRedis.class)
                .withPropertyValues("lock.type=")
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(RedisLockRegistry.class));
    }

    @Test
    void withoutRedisTheActionIsNamed() {
        runner.run(context -> {
            FailureAnalysis analysis = new LockFailureAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis.getDescription())
                    .isEqualTo("Distributed locks need a RedisConnectionFactory bean, but there is none.");
            assertThat(analysis.getAction())
                    .startsWith(
                            "Add spring-boot-starter-data-redis, set lock.redis.url, define the bean or a LockRegistry bean,"
                                    + " or set lock.enabled=false.\n\nSee https://");
        });
    }

    @Test
    void amongSeveralRedisWithoutChoiceTheActionIsNamed() {
        runner.withUserConfiguration(OneRedis.class, OtherRedis.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessage(
                                "Distributed locks found several RedisConnectionFactory beans, but none of them is primary: "
                                        + "annotate the one for locks with @Qualifier(\"distributedLock\"), or one of them with @Primary"
                                        + "; see " + Troubleshooting.PAGE + "the-application-does-not-start"));
    }

    @Test
    void amongSeveralRedisThePrimaryIsTaken() {
        runner.withUserConfiguration(OneRedis.class, PrimaryRedis.class)
                .run(context -> assertThat(context).hasSingleBean(RedisLockRegistry.class));
    }

    @Test
    void amongSeveralRedisTheQualifiedIsTaken() {
        runner.withUserConfiguration(OneRedis.class, OtherRedis.class)
                .withBean("distributedLock", RedisConnectionFactory.class, LockAutoConfigurationTests::redis)
                .run(context -> assertThat(context).hasSingleBean(RedisLockRegistry.class));
    }

    @Test
    void inMemoryNoRedisIsNeeded() {
        runner.withPropertyValues("lock.type=memory", "lock.ttl=3m")
                .withClassLoader(new FilteredClassLoader("org.springframework.data", "io.lettuce"))
                .run(context -> {
                    assertThat(context).getBean("lockbootLockRegistry").isInstanceOf(MemoryLockRegistry.class);
                    Duration lease = context.getBean(LockTemplate.class)
                            .execute(
                                    "a",
                                    () -> context.getBean(LockRegistry.class)
                                            .get("a")
                                            .remainingLease());
                    assertThat(lease).isBetween(Duration.ofMinutes(2), Duration.ofMinutes(3));
                });
    }

    @Test
    void inMemoryTooTheApplicationsLockRegistryWins() {
        runner.withPropertyValues("lock.type=memory")
                .withBean(RecordingLockRegistry.class)
                .run(context ->
                        assertThat(context).getBean(LockRegistry.class).isInstanceOf(RecordingLockRegistry.class));
    }

    @Test
    void withoutSpringDataTheActionIsNamed() {
        runner.withClassLoader(new FilteredClassLoader("org.springframework.data", "io.lettuce"))
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessage("Distributed locks need Spring Data Redis, which is not on the class path: add"
                                + " spring-boot-starter-data-redis, define a LockRegistry bean, set lock.type=memory in"
                                + " tests, or set lock.enabled=false"
                                + "; see " + Troubleshooting.PAGE + "the-application-does-not-start"));
    }

    @Test
    void anUnknownTypeIsNamed() {
        runner.withPropertyValues("lock.type=zookeeper")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("zookeeper")
                        .hasMessageContaining("LockProperties.Type"));
    }

    /** Not started, so it connects to nothing. */
    private static LettuceConnectionFactory redis() {
        LettuceConnectionFactory factory = new LettuceConnectionFactory();
        factory.setAutoStartup(false);
        return factory;
    }

    @Configuration(proxyBeanMethods = false)
    static class OneRedis {
        @Bean
        RedisConnectionFactory redisConnectionFactory() {
            return redis();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OtherRedis {
        @Bean
        RedisConnectionFactory otherConnectionFactory() {
            return redis();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class PrimaryRedis {
        @Bean
        @Primary
        RedisConnectionFactory primaryConnectionFactory() {
            return redis();
        }
    }
}
