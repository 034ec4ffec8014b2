package io.github.lockboot.autoconfigure.actuate;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.autoconfigure.LockAutoConfiguration;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.leader.LeaderElection;
import io.github.lockboot.memory.MemoryLockRegistry;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.autoconfigure.availability.AvailabilityHealthContributorAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.availability.AvailabilityProbesAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.health.HealthContributorAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.health.HealthEndpointAutoConfiguration;
import org.springframework.boot.actuate.health.HealthEndpointGroups;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.availability.ApplicationAvailabilityAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Health on the line of Spring Boot that runs; the classes of the other must not be needed. */
@Tag("this-build")
class LockHealthTests {

    private static final String BOOT_3 = "org.springframework.boot.actuate.autoconfigure.health";
    private static final String BOOT_4 = "org.springframework.boot.health";
    private static final boolean ON_BOOT_3 =
            ClassUtils.isPresent(BOOT_3 + ".ConditionalOnEnabledHealthIndicator", null);

    private static RedisServer server;

    private final ApplicationContextRunner runner =
            runner(() -> new LettuceConnectionFactory(server.host(), server.port()));

    private static ApplicationContextRunner runner(Supplier<RedisConnectionFactory> redis) {
        return new ApplicationContextRunner()
                .withBean(RedisConnectionFactory.class, redis)
                .withClassLoader(new FilteredClassLoader(ON_BOOT_3 ? BOOT_4 : BOOT_3))
                .withConfiguration(
                        AutoConfigurations.of(LockAutoConfiguration.class, LockHealthAutoConfiguration.class));
    }

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** What both lines have: the name of the status and the details. */
    private static String healthOf(Object indicator) {
        try {
            Method health = indicator.getClass().getMethod("health");
            health.setAccessible(true);
            return health.invoke(indicator).toString();
        } catch (ReflectiveOperationException failure) {
            throw new AssertionError(failure);
        }
    }

    @Test
    void locksThatCanBeHadAreUp() {
        runner.run(context -> {
            assertThat(context).hasNotFailed().hasBean("lockHealthIndicator");
            assertThat(healthOf(context.getBean("lockHealthIndicator")))
                    .startsWith("UP")
                    .contains("unused")
                    .doesNotContain("degraded");
        });
    }

    @Test
    void whoLeadsIsADetail() {
        runner.withBean(LeaderElection.class, () -> LeaderElection.of(new MemoryLockRegistry(), "reports"))
                .run(context -> {
                    LeaderElection election = context.getBean(LeaderElection.class);
                    Actor.await("it leads", election::isLeader);
                    assertThat(LockHealthAutoConfiguration.check(context))
                            .containsEntry("leaders", Map.of("reports", true));
                    election.stop();
                    assertThat(LockHealthAutoConfiguration.check(context))
                            .containsEntry("leaders", Map.of("reports", false));
                });
        runner.run(context ->
                assertThat(LockHealthAutoConfiguration.check(context)).doesNotContainKey("leaders"));
    }

    /** What Spring Boot's probes for Kubernetes ask for. */
    @Test
    void itIsPartOfNoProbe() {
        runner.withConfiguration(AutoConfigurations.of(
                        HealthContributorAutoConfiguration.class,
                        HealthEndpointAutoConfiguration.class,
                        ApplicationAvailabilityAutoConfiguration.class,
                        AvailabilityHealthContributorAutoConfiguration.class,
                        AvailabilityProbesAutoConfiguration.class))
                .withPropertyValues("management.endpoint.health.probes.enabled=true")
                .run(context -> {
                    HealthEndpointGroups groups = context.getBean(HealthEndpointGroups.class);
                    assertThat(groups.getPrimary().isMember("lock")).isTrue();
                    assertThat(groups.getNames()).containsExactlyInAnyOrder("liveness", "readiness");
                    for (String probe : groups.getNames()) { // a lambda would have the class in its signature
                        assertThat(groups.get(probe).isMember("lock")).as(probe).isFalse();
                    }
                });
    }

    @Test
    void itCanBeTurnedOffLikeAnyOther() {
        runner.withPropertyValues("management.health.lock.enabled=false")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("lockHealthIndicator"));
    }

    @Test
    void locksInMemoryHaveNoHealth() {
        runner.withPropertyValues("lock.type=memory")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("lockHealthIndicator"));
    }

    @Test
    void withoutActuatorThereIsNone() {
        runner.withClassLoader(new FilteredClassLoader(BOOT_3, BOOT_4, "org.springframework.boot.actuate"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("lockHealthIndicator"));
    }

    @Test
    void withoutRedisLocksAreDown() {
        RedisServer gone = RedisServer.start();
        runner(() -> new LettuceConnectionFactory(gone.host(), gone.port())).run(context -> {
            Object indicator = context.getBean("lockHealthIndicator");
            assertThat(healthOf(indicator)).startsWith("UP");
            gone.close();
            assertThat(healthOf(indicator)).startsWith("DOWN");
        });
    }

    /** The details are the same on both lines, so it is enough to ask what they come from. */
    @Test
    void aCutChannelIsADetailAndALiveOneIsNot() {
        runner.run(context -> {
            RedisLockRegistry locks = context.getBean(RedisLockRegistry.class);
            Supplier<Map<String, Object>> health = () -> LockHealthAutoConfiguration.check(context);
            Lease held = locks.acquire("a", LockOptions.defaults());
            locks.acquireAsync("a", LockOptions.defaults().withWaitTime(Duration.ofMinutes(1)));
            Actor.await("it is live", () -> health.get().get("notification").equals("live"));
            assertThat(health.get()).doesNotContainKey("degraded");
            held.close();
            locks.close();
            assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(health::get);
        });
    }

    @Test
    void aLiveChannelDoesNotHideThatAnotherIsCut() {
        try (RedisServer deaf = RedisServer.start()) {
            deaf.command("ACL", "SETUSER", "default", "resetchannels");
            runner.withBean("cut", RedisLockRegistry.class, () -> registryOn(deaf), bean -> bean.setPrimary(true))
                    .withBean("live", RedisLockRegistry.class, () -> registryOn(server))
                    .run(context -> {
                        for (String name : List.of("cut", "live")) {
                            RedisLockRegistry locks = context.getBean(name, RedisLockRegistry.class);
                            locks.acquire("b");
                            locks.acquireAsync("b");
                            Actor.await(
                                    "it is " + name,
                                    () -> locks.inspector().check().name().equalsIgnoreCase(name));
                        }
                        assertThat(LockHealthAutoConfiguration.check(context))
                                .containsEntry("notification", "cut")
                                .containsKey("degraded");
                    });
        }
    }

    private static RedisLockRegistry registryOn(RedisServer server) {
        LettuceConnectionFactory redis = new LettuceConnectionFactory(server.host(), server.port());
        redis.start();
        return RedisLockRegistry.builder(redis).build();
    }
}
