package io.github.lockboot.redis;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.redis.RedisLockRegistry.Acknowledge;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assumptions.assumeThat;

/** Grants that count only once replicas have them, on a master and two replicas. */
class AcknowledgeTests {

    /** That replicas do not acknowledge is known after nine tenths of it at most. The rest is for a busy machine. */
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    /** Where it does not matter whether this, or the lack of acknowledgements, ends an attempt. */
    private static final Duration SHORT_TIMEOUT = Duration.ofSeconds(2);

    /** A command timeout until it is granted, another until it is not acknowledged, and as much for a busy machine. */
    private static final Duration IN_TIME = TIMEOUT.multipliedBy(4);

    private RedisServer master;
    private List<RedisServer> replicas;
    private TestRegistries registries;

    /** A lock of each kind, without waiting. */
    private enum Kind {
        EXCLUSIVE(LockOptions.defaults()),
        SHARED(LockOptions.defaults().shared()),
        LIMITED(LockOptions.defaults().withPermits(2));

        final LockOptions options;

        Kind(LockOptions options) {
            this.options = options.withWaitTime(Duration.ZERO);
        }
    }

    @BeforeEach
    void start() {
        master = RedisServer.builder().args("--repl-timeout", "3600").start();
        replicas = List.of(replica(), replica());
        registries = TestRegistries.on(master);
        awaitReplicas(2);
    }

    private RedisServer replica() {
        return RedisServer.start("--replicaof", master.host(), String.valueOf(master.port()));
    }

    private void awaitReplicas(int number) {
        Actor.await(
                number + " replicas are connected",
                () -> connected().filter(line -> line.contains("state=online")).count() == number);
    }

    private Stream<String> connected() {
        try (RedisProbe probe = master.probe()) {
            return probe.info("replication").entrySet().stream()
                    .filter(line -> line.getKey().matches("slave[0-9]+"))
                    .map(Map.Entry::getValue);
        }
    }

    @AfterEach
    void stop() {
        registries.close();
        replicas.forEach(RedisServer::close);
        master.close();
    }

    private RedisLockRegistry registry(Acknowledge acknowledge) {
        return registry(acknowledge, UnaryOperator.identity());
    }

    private RedisLockRegistry hastyRegistry(
            Acknowledge acknowledge, UnaryOperator<RedisLockRegistry.Builder> settings) {
        return registry(acknowledge, builder -> settings.apply(builder.commandTimeout(SHORT_TIMEOUT)));
    }

    private RedisLockRegistry registry(Acknowledge acknowledge, UnaryOperator<RedisLockRegistry.Builder> settings) {
        RedisLockRegistry registry = registries.registry(
                builder -> settings.apply(builder.acknowledge(acknowledge).commandTimeout(TIMEOUT)));
        Actor.await("connected", () -> TestRegistries.canLock(registry, "connecting"));
        return registry;
    }

    private void nothingIsHeld(String name) {
        Actor.await(
                "the lock is given back",
                () -> master.command("EXISTS", "lock:" + name).equals(0L));
    }

    @ParameterizedTest
    @EnumSource
    void aGrantIsOnAllReplicasBeforeItsCallerHasIt(Kind kind) {
        RedisLockRegistry registry = registry(Acknowledge.ALL);
        List<RedisProbe> copies = replicas.stream().map(RedisServer::probe).toList();
        for (int i = 0; i < 200; i++) {
            NamedLock lock = registry.get("copied-" + i, kind.options);
            assertThat(lock.tryLock()).isTrue();
            for (RedisProbe copy : copies) {
                assertThat(copy.command("EXISTS", "lock:copied-" + i)).isEqualTo(1L);
            }
            lock.unlock();
        }
        copies.forEach(RedisProbe::close);
    }

    @ParameterizedTest
    @EnumSource
    void aGrantThatNoReplicaHasIsGivenBack(Kind kind) {
        RedisLockRegistry registry = registry(Acknowledge.ONE);
        replicas.forEach(RedisServer::pause);
        NamedLock lock = registry.get("alone", kind.options);
        long start = System.nanoTime();
        assertThatExceptionOfType(LockUnavailableException.class)
                .isThrownBy(lock::tryLock)
                .withMessageContaining("lock.redis.acknowledge")
                .havingCause()
                .withMessage("0 of 1 replicas acknowledged it in time");
        assertThat(Figures.millisSince(start)).isLessThan(IN_TIME.toMillis());
        nothingIsHeld("alone");
        Actor.await("nothing is in use", () -> registry.inspector().inUse() == 0);
        replicas.forEach(RedisServer::resume);
        Actor.await("acknowledged again", () -> TestRegistries.canLock(registry, "alone"));
    }

    @Test
    void severalGrantsAtOnceAreAcknowledgedTogether() {
        RedisLockRegistry registry = registry(Acknowledge.ALL);
        List<String> names = IntStream.range(0, 20).mapToObj(i -> "all-" + i).toList();
        Lock all = registry.allOf(names, LockOptions.defaults().withoutRenewal());
        try (RedisProbe probe = master.probe();
                RedisProbe copy = replicas.get(1).probe()) {
            all.lock();
            assertThat(names)
                    .allMatch(name -> copy.command("EXISTS", "lock:" + name).equals(1L));
            all.unlock();
            probe.command("CONFIG", "RESETSTAT");
            all.lock();
            assertThat(probe.commandCalls().get("evalsha")).isEqualTo(20);
            assertThat(probe.commandCalls().get("wait")).isLessThan(10);
            all.unlock();
        }
        replicas.forEach(RedisServer::pause);
        assertThatExceptionOfType(LockUnavailableException.class)
                .isThrownBy(all::lock)
                .havingCause()
                .withMessage("0 of 2 replicas acknowledged it in time");
        names.forEach(this::nothingIsHeld);
        Actor.await("nothing is in use", () -> registry.inspector().inUse() == 0);
        replicas.forEach(RedisServer::resume);
    }

    @Test
    void oneOfTwoReplicasIsEnoughForOneAndTooFewForAll() {
        NamedLock one = registry(Acknowledge.ONE).get("some");
        NamedLock all = registry(Acknowledge.ALL).get("some");
        replicas.get(0).pause();
        assertThat(one.tryLock()).isTrue();
        one.unlock();
        assertThatExceptionOfType(LockUnavailableException.class)
                .isThrownBy(all::tryLock)
                .havingCause()
                .withMessage("1 of 2 replicas acknowledged it in time");
        replicas.get(0).resume();
    }

    /** Until then it counts as connected, so it is one of all. */
    @Test
    void aReplicaThatHangsMakesLocksUnavailableForAllUntilRedisDropsIt() throws Exception {
        RedisLockRegistry one = hastyRegistry(Acknowledge.ONE, UnaryOperator.identity());
        RedisLockRegistry all = hastyRegistry(
                Acknowledge.ALL,
                builder -> builder.defaults(LockOptions.defaults().withTtl(Duration.ofSeconds(3))));
        AtomicBoolean lost = new AtomicBoolean();
        Lease held = all.acquire("held", LockOptions.defaults());
        held.onLost(() -> lost.set(true));
        replicas.get(0).pause();
        Actor.await("two are all", () -> !TestRegistries.canLock(all, "new"));
        Actor.await("one is enough for one", () -> TestRegistries.canLock(one, "another"));
        Actor.await("the hold is lost", lost::get);
        assertThat(held.isValid()).isFalse();
        assertThat(TestRegistries.canLock(all, "new")).isFalse();
        master.command("CONFIG", "SET", "repl-timeout", "2");
        awaitReplicas(1);
        Actor.await("one is all", () -> TestRegistries.canLock(all, "new"));
        replicas.get(0).resume();
    }

    @Test
    void allAreThoseThatAreConnectedNow() {
        RedisLockRegistry registry = hastyRegistry(Acknowledge.ALL, UnaryOperator.identity());
        replicas.get(0).kill();
        awaitReplicas(1);
        Actor.await("one is all", () -> TestRegistries.canLock(registry, "fewer"));
        replicas.get(0).restart();
        awaitReplicas(2);
        Actor.await("both have acknowledged", () -> TestRegistries.canLock(registry, "more"));
        replicas.get(0).pause();
        Actor.await("two are all", () -> !TestRegistries.canLock(registry, "more"));
        replicas.get(0).resume();
    }

    @ParameterizedTest
    @EnumSource(names = {"EXCLUSIVE", "LIMITED"})
    void aPushedGrantIsAcknowledgedToo(Kind kind) throws Exception {
        LockOptions waiting = kind.options.withWaitTime(Duration.ofMinutes(1));
        RedisLockRegistry elsewhere = registry(Acknowledge.NONE);
        NamedLock held = elsewhere.get("pushed", LockOptions.defaults());
        RedisLockRegistry registry = hastyRegistry(Acknowledge.ALL, UnaryOperator.identity());
        held.lock();
        CompletableFuture<Lease> good = registry.acquireAsync("pushed", waiting);
        awaitQueued("pushed");
        held.unlock();
        Actor.get(good).close();

        held.lock();
        CompletableFuture<Lease> bad = registry.acquireAsync("pushed", waiting);
        awaitQueued("pushed");
        replicas.forEach(RedisServer::pause);
        long start = System.nanoTime();
        held.unlock();
        assertThat(bad)
                .failsWithin(IN_TIME)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockUnavailableException.class);
        Figures.report("a pushed grant is not acknowledged: its waiter knows after %d ms", Figures.millisSince(start));
        nothingIsHeld("pushed");
        replicas.forEach(RedisServer::resume);
    }

    private void awaitQueued(String name) {
        Actor.await("it waits", () -> StoredLock.at(master, "lock:" + name).isWaitedFor());
    }

    @Test
    void aRenewalThatNoReplicaHasDoesNotProlongTheHold() {
        RedisLockRegistry registry = hastyRegistry(
                Acknowledge.ALL,
                builder -> builder.defaults(LockOptions.defaults().withTtl(Duration.ofSeconds(6))));
        NamedLock lock = registry.get("renewed");
        AtomicBoolean lost = new AtomicBoolean();
        lock.lock();
        lock.onLost(() -> lost.set(true));
        Actor.awaitRenewals(4, lock::remainingLease);
        assertThat(lock.isHeldByCurrentThread()).isTrue();
        replicas.forEach(RedisServer::pause);
        Actor.await("it is lost", lost::get);
        assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
        replicas.forEach(RedisServer::resume);
    }

    @Test
    void whoeverWaitsAreAcknowledgedTogetherByOneRoundAtATime() throws Exception {
        RedisLockRegistry registry = registry(Acknowledge.ALL);
        int threads = 16;
        int holds = 500;
        List<Actor> actors =
                IntStream.range(0, threads).mapToObj(i -> new Actor()).toList();
        AtomicBoolean over = new AtomicBoolean();
        long most = 0;
        try (RedisProbe probe = master.probe()) {
            probe.command("CONFIG", "RESETSTAT");
            List<CompletableFuture<Void>> all = IntStream.range(0, threads)
                    .mapToObj(i -> actors.get(i).begin(() -> {
                        for (int n = 0; n < holds; n++) {
                            NamedLock lock = registry.get("name-" + i + "-" + n);
                            lock.lock();
                            lock.unlock();
                        }
                    }))
                    .toList();
            CompletableFuture.allOf(all.toArray(CompletableFuture<?>[]::new))
                    .whenComplete((none, failure) -> over.set(true));
            while (!over.get()) {
                most = Math.max(most, Long.parseLong(probe.info("clients").get("blocked_clients")));
            }
            for (CompletableFuture<Void> each : all) {
                each.get(1, TimeUnit.MINUTES);
            }
            long rounds = probe.commandCalls().getOrDefault("wait", 0L);
            Figures.report("%d grants were acknowledged in %d rounds", threads * holds, rounds);
            assertThat(most).isLessThanOrEqualTo(1);
            assertThat(rounds).isLessThan(threads * holds);
        } finally {
            actors.forEach(Actor::close);
        }
    }

    @Test
    void withoutAcknowledgementsNothingWaits() {
        RedisLockRegistry registry = registry(Acknowledge.NONE);
        assertThat(TestRegistries.canLock(registry, "as ever")).isTrue();
        try (RedisProbe probe = master.probe()) {
            assertThat(probe.commandCalls()).doesNotContainKeys("wait", "role");
        }
    }

    @Test
    void theSelfCheckFindsThatThereAreTooFewReplicas() {
        RedisLockRegistry registry = registry(Acknowledge.ALL);
        assertThat(registry.check().join()).isEmpty();
        replicas.forEach(RedisServer::kill);
        awaitReplicas(0);
        assertThat(registry.check().join()).singleElement().satisfies(finding -> {
            assertThat(finding.fatal()).isFalse();
            assertThat(finding.problem())
                    .contains("lock.redis.acknowledge")
                    .contains("0 of 1 replicas acknowledged it in time");
        });
    }

    @Test
    void onAClusterTheReplicasOfTheMasterOfTheKeyAcknowledge() {
        try (RedisCluster cluster = RedisCluster.start(1);
                TestRegistries there = TestRegistries.on(new RedisClusterConfiguration(cluster.nodes()))) {
            RedisLockRegistry registry = there.registry(
                    builder -> builder.acknowledge(Acknowledge.ALL).commandTimeout(SHORT_TIMEOUT));
            List<String> names =
                    IntStream.range(0, 30).mapToObj(i -> "name-" + i).toList();
            names.forEach(name -> Actor.await("locked", () -> TestRegistries.canLock(registry, name)));
            RedisServer without = cluster.masters().get(0);
            cluster.replicasOf(without).forEach(RedisServer::pause);
            List<String> refused = names.stream()
                    .filter(name -> cluster.ownerOf("lock:" + name) == without)
                    .limit(2)
                    .toList();
            assertThat(refused).isNotEmpty().noneMatch(name -> TestRegistries.canLock(registry, name));
            names.stream()
                    .filter(name -> cluster.ownerOf("lock:" + name) != without)
                    .forEach(name -> Actor.await("locked elsewhere", () -> TestRegistries.canLock(registry, name)));
            cluster.replicasOf(without).forEach(RedisServer::resume);
        }
    }

    @Test
    void withAofAGrantOutlivesAMasterThatIsKilled() {
        try (RedisServer durable = RedisServer.start("--appendonly", "yes", "--appendfsync", "everysec");
                TestRegistries there = TestRegistries.on(durable)) {
            assumeThat(durable.version()).isGreaterThanOrEqualTo("7.2"); // which knows WAITAOF
            RedisLockRegistry registry = there.registry(
                    builder -> builder.acknowledge(Acknowledge.AOF).commandTimeout(Duration.ofSeconds(4)));
            registry.get("durable").lock();
            durable.kill();
            durable.restart();
            assertThat(durable.command("EXISTS", "lock:durable")).isEqualTo(1L);
        }
    }

    @Test
    void anotherClientThanLettuceIsRefused() {
        RedisConnectionFactory other = (RedisConnectionFactory) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {RedisConnectionFactory.class},
                (proxy, method, args) -> null);
        assertThatIllegalStateException()
                .isThrownBy(() -> RedisLockRegistry.builder(other)
                        .acknowledge(Acknowledge.ALL)
                        .build())
                .withMessageContaining("lock.redis.acknowledge needs Lettuce");
    }

    @Test
    void aFixedListOfReplicasIsRefused() {
        try (TestRegistries there =
                TestRegistries.on(new RedisStaticMasterReplicaConfiguration(master.host(), master.port()))) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> there.registry(builder -> builder.acknowledge(Acknowledge.ALL)))
                    .withMessageContaining("lock.redis.acknowledge does not work with a fixed list");
        }
    }

    @Test
    void aConnectionOfTheApplicationIsAcknowledgedOnOneOfOurOwn() {
        RedisLockRegistry registry = hastyRegistry(Acknowledge.ALL, RedisLockRegistry.Builder::sharingConnections);
        Actor.await("both have acknowledged", () -> TestRegistries.canLock(registry, "shared"));
        replicas.get(0).pause();
        assertThat(TestRegistries.canLock(registry, "shared")).isFalse();
        replicas.get(0).resume();
    }

    @Test
    void aServerWithoutWaitIsRefused() {
        try (RedisServer serverless = RedisServer.start("--rename-command", "WAIT", "");
                TestRegistries there = TestRegistries.on(serverless)) {
            RedisLockRegistry registry = there.registry(builder -> builder.acknowledge(Acknowledge.ONE));
            assertThat(registry.check().join()).singleElement().satisfies(finding -> {
                assertThat(finding.fatal()).isTrue();
                assertThat(finding.problem()).contains("lock.redis.acknowledge").contains("unknown command");
            });
            assertThatExceptionOfType(LockUnavailableException.class)
                    .isThrownBy(() -> registry.get("a").tryLock());
        }
    }

    /** Lettuce sends an unanswered command again on the next connection. */
    @ParameterizedTest
    @ValueSource(strings = {"WAIT", "ROLE"})
    void aProxyThatClosesTheConnectionIsNotAskedAgainAndAgain(String word) {
        try (TcpProxy proxy = TcpProxy.to(master);
                TestRegistries behind = TestRegistries.at(proxy.host(), proxy.port())) {
            RedisLockRegistry registry = behind.registry(
                    builder -> builder.acknowledge(Acknowledge.ALL).commandTimeout(SHORT_TIMEOUT));
            Actor.await("connected", () -> TestRegistries.canLock(registry, "connecting"));
            Actor.pass(SHORT_TIMEOUT.dividedBy(4)); // longer than the replicas stay counted
            proxy.closeOn(word);
            assertThatExceptionOfType(LockUnavailableException.class)
                    .isThrownBy(() -> registry.get("a").tryLock());
            nothingIsHeld("a");
            long before = proxy.connections();
            Actor.pass(SHORT_TIMEOUT);
            assertThat(proxy.connections() - before).isLessThan(3);
        }
    }
}
