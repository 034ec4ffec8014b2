package io.github.lockboot.autoconfigure.actuate;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.autoconfigure.LockAutoConfiguration;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/** The endpoints of an application with two registries, each on a Redis of its own. */
class SeveralRegistriesTests {

    private static final LockOptions OPTIONS = LockOptions.defaults();

    private static RedisServer orders;
    private static RedisServer reports;

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withPropertyValues(
                    "management.endpoints.web.exposure.include=lock,locks",
                    "lock.endpoint.force-release=true",
                    "lock.redis.command-timeout=500ms",
                    "lock.startup-check=off")
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class, LocksEndpointAutoConfiguration.class))
            .withUserConfiguration(TwoRegistries.class);

    @BeforeAll
    static void start() {
        orders = RedisServer.start();
        reports = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        orders.close();
        reports.close();
    }

    @SuppressWarnings("unchecked")
    private static String holderIn(Map<String, Object> state) {
        return (String)
                ((List<Map<String, Object>>) state.get("holders")).get(0).get("holderId");
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> stateIn(WebEndpointResponse<Map<String, Object>> shown) {
        return (Map<String, Object>) shown.getBody().get("state");
    }

    @Test
    void theLockOfASecondRegistryIsShownAndReleased() {
        runner.run(context -> {
            LockStateEndpoint endpoint = context.getBean(LockStateEndpoint.class);
            LockRegistry second = context.getBean("reportsLocks", LockRegistry.class);
            assertThat(endpoint.state("nightly").getStatus()).isEqualTo(404);
            Lease lease = second.acquire("nightly", OPTIONS);
            WebEndpointResponse<Map<String, Object>> shown = endpoint.state("nightly");
            assertThat(shown.getStatus()).isEqualTo(200);
            assertThat(shown.getBody())
                    .containsEntry("registry", "reportsLocks")
                    .doesNotContainKey("others");
            String holder = holderIn(stateIn(shown));
            assertThat(endpoint.release("nightly", "another-1").getStatus()).isEqualTo(409);
            assertThat(endpoint.release("nightly", holder).getStatus()).isEqualTo(204);
            assertThat(lease.isValid()).isFalse();
            assertThat(endpoint.state("nightly").getStatus()).isNotEqualTo(503);
            assertThat(endpoint.release("nightly", holder).getStatus()).isEqualTo(409);
        });
    }

    @Test
    @SuppressWarnings("unchecked")
    void aNameThatBothHaveIsShownOfBothAndReleasedWhereItsHolderIs() {
        runner.run(context -> {
            LockStateEndpoint endpoint = context.getBean(LockStateEndpoint.class);
            Lease first = context.getBean(LockRegistry.class).acquire("both", OPTIONS);
            Lease second = context.getBean("reportsLocks", LockRegistry.class).acquire("both", OPTIONS);
            Map<String, Object> body = endpoint.state("both").getBody();
            List<Map<String, Object>> others = (List<Map<String, Object>>) body.get("others");
            assertThat(others).hasSize(1);
            assertThat(List.of(body.get("registry"), others.get(0).get("registry")))
                    .containsExactlyInAnyOrder((Object[]) context.getBeanNamesForType(LockRegistry.class));
            String holder = body.get("registry").equals("reportsLocks")
                    ? holderIn((Map<String, Object>) body.get("state"))
                    : holderIn((Map<String, Object>) others.get(0).get("state"));
            assertThat(endpoint.release("both", holder).getStatus()).isEqualTo(204);
            assertThat(second.isValid()).isFalse();
            assertThat(first.isValid()).isTrue();
            first.close();
        });
    }

    @Test
    void aRegistryWithoutRedisDoesNotHideTheLockOfAnother() {
        runner.run(context -> {
            LockStateEndpoint endpoint = context.getBean(LockStateEndpoint.class);
            Lease lease = context.getBean("reportsLocks", LockRegistry.class).acquire("seen", OPTIONS);
            String holder = holderIn(stateIn(endpoint.state("seen")));
            orders.pause();
            try {
                assertThat(endpoint.state("seen").getStatus()).isEqualTo(200);
                assertThat(endpoint.state("unseen").getStatus()).isEqualTo(503);
                assertThat(endpoint.release("seen", "another-1").getStatus()).isEqualTo(503);
                assertThat(endpoint.release("seen", holder).getStatus()).isEqualTo(204);
            } finally {
                orders.resume();
            }
            assertThat(lease.isValid()).isFalse();
        });
    }

    @Test
    void theLocksOfThisInstanceAreShownWithTheirRegistry() {
        runner.run(context -> {
            LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
            LockRegistry first = context.getBean(LockRegistry.class);
            LockRegistry second = context.getBean("reportsLocks", LockRegistry.class);
            String nameOfFirst = context.getBeanNamesForType(LockRegistry.class)[0].equals("reportsLocks")
                    ? context.getBeanNamesForType(LockRegistry.class)[1]
                    : context.getBeanNamesForType(LockRegistry.class)[0];
            Lease one = first.acquire("mine", OPTIONS);
            Lease other = second.acquire("mine", OPTIONS);
            CompletableFuture<Lease> waiting = second.acquireAsync("mine", OPTIONS);
            assertThat(endpoint.locks().held())
                    .extracting(
                            LocksEndpoint.Held::registry, LocksEndpoint.Held::fencingToken, LocksEndpoint.Held::queue)
                    .containsExactly(
                            tuple(nameOfFirst, one.fencingToken(), 0L),
                            tuple("reportsLocks", other.fencingToken(), 1L));
            assertThat(endpoint.locks().waiting())
                    .extracting(LocksEndpoint.Waiting::registry)
                    .containsExactly("reportsLocks");
            one.close();
            other.close();
            Actor.get(waiting).close();
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoRegistries {

        @Bean
        LettuceConnectionFactory ordersRedis() {
            return new LettuceConnectionFactory(orders.host(), orders.port());
        }

        @Bean(defaultCandidate = false)
        @Qualifier("reports")
        LettuceConnectionFactory reportsRedis() {
            return new LettuceConnectionFactory(reports.host(), reports.port());
        }

        @Bean(defaultCandidate = false, destroyMethod = "close")
        @Qualifier("reports")
        RedisLockRegistry reportsLocks(@Qualifier("reports") RedisConnectionFactory redis) {
            return RedisLockRegistry.builder(redis).build();
        }
    }
}
