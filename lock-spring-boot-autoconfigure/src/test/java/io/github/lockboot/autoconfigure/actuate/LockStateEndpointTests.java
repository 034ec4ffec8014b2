package io.github.lockboot.autoconfigure.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Actor;
import io.github.lockboot.DistributedLock.Mode;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.autoconfigure.LockAutoConfiguration;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.entry;

/** The endpoint of a single lock, on a real Redis. */
class LockStateEndpointTests {

    private static final LockOptions OPTIONS = LockOptions.defaults();

    private static RedisServer server;

    private final ApplicationContextRunner runner = runner(server);

    private static ApplicationContextRunner runner(RedisServer on) {
        return new ApplicationContextRunner()
                .withBean(RedisConnectionFactory.class, () -> new LettuceConnectionFactory(on.host(), on.port()))
                .withPropertyValues(
                        "management.endpoints.web.exposure.include=lock",
                        "lock.endpoint.force-release=true",
                        "lock.ttl=3s")
                .withConfiguration(
                        AutoConfigurations.of(LockAutoConfiguration.class, LocksEndpointAutoConfiguration.class));
    }

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** The ids of the holders, in the order of their grants. */
    private static List<String> idsOf(String name) {
        return StoredLock.at(server, "lock:" + name).holders().stream()
                .map(StoredLock.Holder::id)
                .toList();
    }

    @Test
    void aLockIsShownAsRedisHasIt() {
        runner.run(context -> {
            LockStateEndpoint endpoint = context.getBean(LockStateEndpoint.class);
            assertThat(endpoint.state("nobody/holds*this").getStatus()).isEqualTo(404);
            Lease lease = context.getBean(LockRegistry.class).acquire("a/b", OPTIONS);
            WebEndpointResponse<Map<String, Object>> shown = endpoint.state("a/b");
            assertThat(shown.getStatus()).isEqualTo(200);
            assertThat(shown.getBody()).containsEntry("name", LockNames.digest("a/b"));
            StoredLock stored = StoredLock.at(server, "lock:a/b");
            assertThat(stateIn(shown))
                    .containsEntry("keyType", "lock")
                    .containsEntry("grantNumber", lease.fencingToken())
                    .containsEntry("waiters", 0L)
                    .containsEntry("state", stored.toString())
                    .containsKey("keyExpiresInMs");
            StoredLock.Holder holder = stored.holders().get(0);
            assertThat(holdersIn(shown))
                    .containsExactly(Map.of(
                            "holderId", holder.id(),
                            "mode", Mode.EXCLUSIVE,
                            "grantNumber", lease.fencingToken(),
                            "ttl", Duration.ofSeconds(3),
                            "until", Instant.ofEpochMilli(holder.until())));
            lease.close();
        });
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> stateIn(WebEndpointResponse<Map<String, Object>> shown) {
        return (Map<String, Object>) shown.getBody().get("state");
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> holdersIn(WebEndpointResponse<Map<String, Object>> shown) {
        return (List<Map<String, Object>>) stateIn(shown).get("holders");
    }

    @Test
    void everyHolderIsShown() {
        runner.run(context -> {
            LockStateEndpoint endpoint = context.getBean(LockStateEndpoint.class);
            LockRegistry locks = context.getBean(LockRegistry.class);
            List<Lease> permits = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                permits.add(locks.acquire("calls", OPTIONS.withPermits(3)));
            }
            List<Map<String, Object>> holders = holdersIn(endpoint.state("calls"));
            assertThat(holders).extracting(holder -> holder.get("holderId")).containsExactlyElementsOf(idsOf("calls"));
            assertThat(holders)
                    .extracting(holder -> holder.get("grantNumber"))
                    .containsExactlyElementsOf(
                            permits.stream().map(Lease::fencingToken).toList());
            assertThat(holders)
                    .allSatisfy(
                            holder -> assertThat(holder).contains(entry("mode", Mode.EXCLUSIVE), entry("permits", 3)));
            permits.forEach(Lease::close);
            Lease reader = locks.acquire("prices", OPTIONS.shared());
            assertThat(holdersIn(endpoint.state("prices")))
                    .singleElement()
                    .satisfies(holder -> assertThat(holder)
                            .containsEntry("mode", Mode.SHARED)
                            .doesNotContainKey("permits"));
            reader.close();
        });
    }

    @Test
    void aLockThatKeepsATokenButHasNoHolderIsShown() {
        runner.run(context -> {
            String text = "[1,\"5\",[],\"4\"]";
            try (RedisProbe redis = server.probe()) {
                redis.command("SET", "lock:kept", text, "PX", "10000");
            }
            Map<String, ?> state =
                    context.getBean(RedisLockRegistry.class).inspector().stateOf("kept");
            assertThat((Object) state.get("state")).isEqualTo(text);
        });
    }

    @Test
    void aForeignValueIsNotShown() {
        runner.run(context -> {
            try (RedisProbe redis = server.probe()) {
                redis.command("SET", "lock:theirs", "[1,\"5\",[],\"4\"] and a secret", "PX", "10000");
            }
            assertThat(context.getBean(RedisLockRegistry.class).inspector().stateOf("theirs"))
                    .containsOnlyKeys("keyType", "keyExpiresInMs")
                    .containsEntry("keyType", "foreign");
        });
    }

    // --- forced releases ----------------------------------------------------------------------------------------

    @Test
    void nobodyReleasesByForceUnlessThatIsAllowed() {
        runner.withPropertyValues("lock.endpoint.force-release=false").run(context -> {
            Lease lease = context.getBean(LockRegistry.class).acquire("guarded", OPTIONS);
            LockStateEndpoint endpoint = context.getBean(LockStateEndpoint.class);
            assertThat(endpoint.release("guarded", idsOf("guarded").get(0)).getStatus())
                    .isEqualTo(403);
            lease.close();
        });
    }

    @Test
    void locksInMemoryAreNotReleasedByForce() {
        runner.withPropertyValues("lock.type=memory").run(context -> {
            LockStateEndpoint endpoint = context.getBean(LockStateEndpoint.class);
            WebEndpointResponse<?> refused = endpoint.release("a", "memory1-1");
            assertThat(refused.getStatus()).isEqualTo(403);
            assertThat(refused.getBody())
                    .isEqualTo(Map.of(
                            "problem",
                            "a forced release needs lock.endpoint.force-release=true and a RedisLockRegistry bean"));
        });
    }

    @Test
    void forcedByItsIdTheLockIsFreeWithALargerTokenAndItsHolderLosesIt() {
        runner.run(context -> {
            LockStateEndpoint endpoint = context.getBean(LockStateEndpoint.class);
            LockRegistry locks = context.getBean(LockRegistry.class);
            Lease lease = locks.acquire("stuck", OPTIONS);
            String id = idsOf("stuck").get(0);
            assertThat(endpoint.release("stuck", "another-1").getStatus()).isEqualTo(409);
            assertThat(lease.isValid()).isTrue();
            assertThat(endpoint.release("stuck", id).getStatus()).isEqualTo(204);
            Actor.await("the loss is noticed", () -> !lease.isValid());
            Lease next = locks.acquire("stuck", OPTIONS);
            assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken() + 65_535);
            next.close();
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void eachOfThreePermitsIsReleasedByItsIdAndTheOthersStay(int which) {
        runner.run(context -> {
            LockStateEndpoint endpoint = context.getBean(LockStateEndpoint.class);
            LockRegistry locks = context.getBean(LockRegistry.class);
            String name = "calls " + which;
            List<Lease> permits = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                permits.add(locks.acquire(name, OPTIONS.withPermits(3)));
            }
            CompletableFuture<Lease> waiting =
                    locks.acquireAsync(name, OPTIONS.withPermits(3).withWaitTime(Duration.ofMinutes(1)));
            Actor.await("it waits", () -> StoredLock.at(server, "lock:" + name).isWaitedFor());
            assertThat(endpoint.release(name, idsOf(name).get(which)).getStatus())
                    .isEqualTo(204);
            Lease next = Actor.get(waiting);
            assertThat(permits)
                    .allSatisfy(permit -> assertThat(next.fencingToken()).isGreaterThan(permit.fencingToken() + 63));
            Lease released = permits.remove(which);
            Actor.await("the loss is noticed", () -> !released.isValid());
            permits.add(next);
            assertThat(permits).allMatch(Lease::isValid);
            permits.forEach(Lease::close);
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void eachOfTwoReadingInstancesIsReleasedByItsIdAndTheOtherReadsOn(int which) {
        runner.run(context -> {
            LockStateEndpoint endpoint = context.getBean(LockStateEndpoint.class);
            LockRegistry one = context.getBean(LockRegistry.class);
            RedisConnectionFactory factory = context.getBean(RedisConnectionFactory.class);
            try (RedisLockRegistry other = RedisLockRegistry.builder(factory)
                    .defaults(OPTIONS.withTtl(Duration.ofSeconds(9)))
                    .build()) {
                String name = "prices " + which;
                List<Lease> readers = new ArrayList<>();
                readers.add(one.acquire(name, OPTIONS.shared()));
                readers.add(other.acquire(name, OPTIONS.shared()));
                assertThat(endpoint.release(name, idsOf(name).get(which)).getStatus())
                        .isEqualTo(204);
                Lease released = readers.remove(which);
                Actor.await("the loss is noticed", () -> !released.isValid());
                Lease reader = readers.get(0);
                assertThat(reader.isValid()).isTrue();
                assertThat(endpoint.release(name, idsOf(name).get(0)).getStatus())
                        .isEqualTo(204);
                try (Lease writer = one.acquire(name, OPTIONS)) {
                    assertThat(writer.fencingToken())
                            .isGreaterThan(reader.fencingToken())
                            .isGreaterThan(released.fencingToken());
                }
            }
        });
    }

    @Test
    void anIdThatHoldsNothingIsToldSo() {
        runner.run(context -> {
            LockStateEndpoint endpoint = context.getBean(LockStateEndpoint.class);
            LockRegistry locks = context.getBean(LockRegistry.class);
            Lease past = locks.acquire("taken", OPTIONS);
            String pastId = idsOf("taken").get(0);
            past.close();
            Lease lease = locks.acquire("taken", OPTIONS);
            CompletableFuture<Lease> waiting = locks.acquireAsync("taken", OPTIONS.shared());
            Actor.await("it waits", () -> StoredLock.at(server, "lock:taken").isWaitedFor());
            String waiter = StoredLock.at(server, "lock:taken").queue().get(0).id();
            for (String id : List.of("", pastId, waiter, "another-1")) {
                WebEndpointResponse<?> refused = endpoint.release("taken", id);
                assertThat(refused.getStatus()).isEqualTo(409);
                assertThat(refused.getBody()).isEqualTo(Map.of("problem", "no holder of the lock has this id"));
            }
            assertThat(endpoint.release("free", pastId).getStatus()).isEqualTo(409);
            assertThat(lease.isValid()).isTrue();
            lease.close();
            Actor.get(waiting).close();
        });
    }

    // --- what cannot be answered --------------------------------------------------------------------------------

    @Test
    void aNameThatNoLockMayHaveIsABadRequest() {
        runner.run(context -> {
            LockStateEndpoint endpoint = context.getBean(LockStateEndpoint.class);
            for (String name : List.of("", "secret".repeat(171), "secret\ud83d")) {
                for (Runnable request :
                        List.<Runnable>of(() -> endpoint.state(name), () -> endpoint.release(name, "a-1"))) {
                    assertThatExceptionOfType(InvalidEndpointRequestException.class)
                            .isThrownBy(request::run)
                            .satisfies(bad -> assertThat(bad.getReason()).startsWith("the lock name "))
                            .satisfies(bad -> assertThat(bad.toString()).doesNotContain("secret"));
                }
            }
        });
    }

    @Test
    void withoutAnAnswerOfRedisNothingIsThrownIntoTheServerAndNothingSaysTheName() {
        try (RedisServer silent = RedisServer.start()) {
            runner(silent)
                    .withPropertyValues("lock.redis.command-timeout=300ms")
                    .run(context -> {
                        context.getBean(LockRegistry.class)
                                .acquire("secret", OPTIONS)
                                .close();
                        silent.pause();
                        LockStateEndpoint endpoint = context.getBean(LockStateEndpoint.class);
                        for (Object answer : List.of(endpoint.state("secret"), endpoint.release("secret", "a-1"))) {
                            WebEndpointResponse<?> unavailable = (WebEndpointResponse<?>) answer;
                            assertThat(unavailable.getStatus()).isEqualTo(503);
                            assertThat(unavailable.getBody().toString())
                                    .contains("the store did not answer or refused: ")
                                    .doesNotContain("secret");
                        }
                        silent.resume();
                    });
        }
    }
}
