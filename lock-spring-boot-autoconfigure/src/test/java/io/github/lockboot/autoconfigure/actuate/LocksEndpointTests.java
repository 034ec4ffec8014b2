package io.github.lockboot.autoconfigure.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Actor;
import io.github.lockboot.DistributedLock.Mode;
import io.github.lockboot.Lease;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.ScheduledLock;
import io.github.lockboot.autoconfigure.LockAutoConfiguration;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.leader.LeaderElection;
import io.github.lockboot.memory.MemoryLockRegistry;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/** The endpoint of the locks of this instance, on a real Redis. */
class LocksEndpointTests {

    private static final LockOptions ORDERS = LockOptions.defaults().withGroup("order");
    private static final String NAME = "order:4711/a\r\nb";

    private static RedisServer server;

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withBean(RedisConnectionFactory.class, () -> new LettuceConnectionFactory(server.host(), server.port()))
            .withPropertyValues("management.endpoints.web.exposure.include=locks,lock", "lock.ttl=3s")
            .withConfiguration(
                    AutoConfigurations.of(LockAutoConfiguration.class, LocksEndpointAutoConfiguration.class));

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void unlessExposedThereIsNoEndpointAndNobodyListensToTheLocks() {
        runner.withPropertyValues("management.endpoints.web.exposure.include=health")
                .run(context -> assertThat(context)
                        .doesNotHaveBean(LocksEndpoint.class)
                        .doesNotHaveBean(LockStateEndpoint.class)
                        .doesNotHaveBean(LockListener.class));
    }

    @Test
    void eachIsExposedByItself() {
        runner.withPropertyValues("management.endpoints.web.exposure.include=locks")
                .run(context -> assertThat(context)
                        .hasSingleBean(LocksEndpoint.class)
                        .doesNotHaveBean(LockStateEndpoint.class));
    }

    @Test
    void itShowsWhatThisInstanceHoldsAndWaitsForByDigest() {
        runner.run(context -> {
            LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
            LockRegistry locks = context.getBean(LockRegistry.class);
            locks.get(NAME, ORDERS).lock();
            try (Actor actor = new Actor()) {
                CompletableFuture<Void> waiting =
                        actor.begin(() -> locks.get(NAME, ORDERS).lock());
                Actor.await("it waits", () -> endpoint.locks().waiting().size() == 1);
                LocksEndpoint.Held held = endpoint.locks().held().get(0);
                assertThat(held.group()).isEqualTo("order");
                assertThat(held.name()).isEqualTo(LockNames.digest(NAME));
                assertThat(held.mode()).isEqualTo(Mode.EXCLUSIVE);
                assertThat(held.permits()).isNull();
                assertThat(held.thread()).isEqualTo(Thread.currentThread().getName());
                assertThat(held.fencingToken()).isEqualTo(locks.get(NAME).fencingToken());
                assertThat(held.remainingLease()).isBetween(Duration.ofMillis(1), Duration.ofSeconds(3));
                assertThat(held.queue()).isEqualTo(1);
                LocksEndpoint.Waiting waits = endpoint.locks().waiting().get(0);
                assertThat(waits.group()).isEqualTo("order");
                assertThat(waits.thread()).isEqualTo("actor");
                assertThat(waits.position()).isEqualTo(1);
                locks.get(NAME).unlock();
                Actor.get(waiting);
                assertThat(endpoint.locks().waiting()).isEmpty();
                actor.run(() -> locks.get(NAME).unlock());
                assertThat(endpoint.locks().held()).isEmpty();
            }
        });
    }

    @Test
    void inAChildContextItShowsTheParentsLocksAndLeaders() {
        ApplicationContextRunner inMemory = runner.withPropertyValues("lock.type=memory");
        inMemory.withBean(LeaderElection.class, () -> LeaderElection.of(new MemoryLockRegistry(), "reports"))
                .run(parent -> inMemory.withParent(parent).run(child -> {
                    parent.getBean(LockRegistry.class).get("a").lock();
                    LocksEndpoint.Locks locks =
                            child.getBean(LocksEndpoint.class).locks();
                    assertThat(locks.held()).hasSize(1);
                    assertThat(locks.leaders())
                            .extracting(LocksEndpoint.Leader::role)
                            .containsExactly("reports");
                }));
    }

    @Test
    void itShowsTheLastCallOfEachJobHere() {
        runner.withPropertyValues("lock.type=memory").withBean(Jobs.class).run(context -> {
            LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
            Jobs jobs = context.getBean(Jobs.class);
            assertThat(endpoint.locks().jobs()).isEmpty();
            jobs.prices();
            jobs.nightly();
            jobs.nightly();
            assertThat(endpoint.locks().jobs())
                    .extracting(ScheduledLock.Run::job, ScheduledLock.Run::outcome, ScheduledLock.Run::thread)
                    .containsExactly(
                            tuple(
                                    "nightly",
                                    ScheduledLock.Outcome.SKIPPED,
                                    Thread.currentThread().getName()),
                            tuple(
                                    "prices",
                                    ScheduledLock.Outcome.RAN,
                                    Thread.currentThread().getName()));
            ScheduledLock.Run last = endpoint.locks().jobs().get(0);
            assertThat(last.took()).isPositive();
            assertThat(last.started()).isBeforeOrEqualTo(Instant.now());
        });
    }

    static class Jobs {

        @ScheduledLock(name = "nightly", atLeastFor = "1m")
        public void nightly() {}

        @ScheduledLock(name = "prices")
        public void prices() {}
    }

    @Test
    void readersAndPermitsAreShownAsSuch() {
        runner.withPropertyValues("lock.type=memory").run(context -> {
            LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
            LockRegistry locks = context.getBean(LockRegistry.class);
            try (Lease reader = locks.acquire("prices", ORDERS.shared());
                    Lease permit = locks.acquire("calls", ORDERS.withPermits(5))) {
                assertThat(endpoint.locks().held())
                        .extracting(
                                LocksEndpoint.Held::mode, LocksEndpoint.Held::permits, LocksEndpoint.Held::fencingToken)
                        .containsExactlyInAnyOrder(
                                tuple(Mode.SHARED, null, reader.fencingToken()),
                                tuple(Mode.EXCLUSIVE, 5, permit.fencingToken()));
            }
        });
    }

    @Test
    void itShowsWhetherThisInstanceLeads() {
        runner.withPropertyValues("lock.type=memory")
                .withBean(LeaderElection.class, () -> LeaderElection.of(new MemoryLockRegistry(), "reports"))
                .run(context -> {
                    LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
                    LeaderElection election = context.getBean(LeaderElection.class);
                    Actor.await("it leads", election::isLeader);
                    assertThat(endpoint.locks().leaders())
                            .containsExactly(new LocksEndpoint.Leader(
                                    "reports",
                                    true,
                                    election.since().orElseThrow(),
                                    election.fencingToken().orElseThrow()));
                    election.stop();
                    assertThat(endpoint.locks().leaders())
                            .containsExactly(new LocksEndpoint.Leader("reports", false, null, null));
                });
    }

    /**
     * Every id of a holder begins with the session of its registry, and so it is found in an instance that shows no
     * hold.
     */
    @Test
    void itShowsTheSessionOfEachRegistryOnRedis() {
        runner.withBean(
                        "second",
                        RedisLockRegistry.class,
                        () -> RedisLockRegistry.builder(new LettuceConnectionFactory(server.host(), server.port()))
                                .build())
                .withBean(
                        "first",
                        RedisLockRegistry.class,
                        () -> RedisLockRegistry.builder(new LettuceConnectionFactory(server.host(), server.port()))
                                .build(),
                        definition -> definition.setPrimary(true))
                .run(context -> {
                    LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
                    assertThat(endpoint.locks().sessions()).containsOnlyKeys("first", "second");
                    Map<String, String> sessions = endpoint.locks().sessions();
                    assertThat(sessions.get("first")).hasSize(8).isNotEqualTo(sessions.get("second"));
                });
        runner.run(context -> {
            LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
            Lease lease = context.getBean(LockRegistry.class).acquire("a", ORDERS);
            assertThat(endpoint.locks().held().get(0).holderId())
                    .startsWith(endpoint.locks().sessions().values().iterator().next());
            lease.close();
        });
        runner.withPropertyValues("lock.type=memory")
                .run(context -> assertThat(
                                context.getBean(LocksEndpoint.class).locks().sessions())
                        .isEmpty());
    }

    @Test
    void namesAreShownInTheClearWhereThatIsWantedOnOneLine() {
        runner.withPropertyValues("lock.log-keys=true").run(context -> {
            Lease lease = context.getBean(LockRegistry.class).acquire(NAME, ORDERS);
            assertThat(context.getBean(LocksEndpoint.class)
                            .locks()
                            .held()
                            .get(0)
                            .name())
                    .isEqualTo("order:4711/a\\u000d\\u000ab");
            lease.close();
        });
    }
}
