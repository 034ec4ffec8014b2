package io.github.lockboot.redis.fleet;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import javax.management.JMException;
import javax.management.ObjectName;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.RedisServerBuilder;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.TestRegistries;
import io.lettuce.core.cluster.SlotHash;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisClusterConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Redis is away for long: what is kept for it meanwhile does not grow, and all is told when it is back. */
class LongOutageTests {

    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration TTL = Duration.ofMinutes(1);
    private static final Duration OUTAGE = Duration.ofSeconds(6);
    private static final int USERS = 200;

    /** What may be on its way before the cut is noticed; without a bound it is thousands. */
    private static final long ON_THEIR_WAY = 3L * USERS;

    private final Fleet fleet = new Fleet();
    private final TcpProxy proxy = fleet.proxy();
    private final UnaryOperator<RedisLockRegistry.Builder> settings = builder -> builder.commandTimeout(COMMAND_TIMEOUT)
            .retryInterval(COMMAND_TIMEOUT)
            .defaults(LockOptions.defaults().withTtl(TTL));

    @AfterEach
    void stop() {
        fleet.close();
    }

    /** Of that class and those within it, after a garbage collection. */
    private static String histogram() {
        try {
            return (String) ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName("com.sun.management:type=DiagnosticCommand"),
                            "gcClassHistogram",
                            new Object[] {null},
                            new String[] {String[].class.getName()});
        } catch (JMException unavailable) {
            throw new IllegalStateException(unavailable);
        }
    }

    private static long instancesOf(String className) {
        return histogram()
                .lines()
                .map(line -> line.strip().split("\\s+"))
                .filter(words ->
                        words.length > 3 && (words[3].equals(className) || words[3].startsWith(className + "$")))
                .mapToLong(words -> Long.parseLong(words[1]))
                .sum();
    }

    private static long commandsInLettuce() throws Exception {
        return instancesOf("io.lettuce.core.protocol.AsyncCommand");
    }

    private static long callsOfOurs() throws Exception {
        return instancesOf("io.github.lockboot.redis.connection.LettuceScripts");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatCannotBeToldDoesNotPileUpAndIsToldWhenRedisIsBack(boolean sharing) throws Exception {
        RedisLockRegistry registry =
                fleet.registry(proxy, builder -> settings.apply(sharing ? builder.sharingConnections() : builder));
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < USERS; i++) {
            leases.add(registry.acquire("held-" + i, LockOptions.defaults()));
        }
        long before = commandsInLettuce();
        long callsBefore = callsOfOurs();
        assertThat(callsBefore)
                .as("objects of ours, whose class is found by name")
                .isPositive();
        proxy.refuse();
        releaseAll(leases);
        List<CompletableFuture<Lease>> inVain = IntStream.range(0, USERS)
                .mapToObj(i -> registry.acquireAsync(
                        "wanted-" + i, LockOptions.defaults().withWaitTime(Duration.ofMinutes(10))))
                .toList();
        inVain.forEach(each -> assertThat(each).failsWithin(Duration.ofSeconds(60)));
        Actor.pass(OUTAGE);
        long kept = commandsInLettuce() - before;
        long calls = callsOfOurs() - callsBefore;
        Figures.report(
                "%d releases to be told for %d s: %d commands in Lettuce, %d objects of ours", USERS, 4, kept, calls);
        assertThat(kept).as("commands that Lettuce keeps").isLessThan(ON_THEIR_WAY);
        assertThat(calls).as("calls that wait, and what belongs to each").isLessThan(4 * USERS);
        assertThat(fleet.server().command("DBSIZE")).isEqualTo((long) USERS);
        proxy.pass();
        fleet.awaitNothingLeft(); // long before the leases are over
    }

    @Test
    void attemptsToConnectLeaveNothing() throws Exception {
        RedisLockRegistry registry = fleet.registry(proxy, settings);
        long before = instancesOf("io.netty.channel.socket.nio.NioSocketChannel");
        proxy.refuse(); // each connection is accepted and closed
        long attempts = proxy.connections();
        Actor.await("20 attempts", () -> proxy.connections() >= attempts + 20);
        proxy.pass();
        Actor.await("connected", () -> Fleet.canLock(registry, "x"));
        Actor.await(
                "no more than a few sockets are left, once the handshakes have expired",
                () -> instancesOf("io.netty.channel.socket.nio.NioSocketChannel") - before < 10);
    }

    @Test
    void aCallDuringAShortOutageSucceedsWhenItIsOver() throws Exception {
        RedisLockRegistry registry = fleet.registry(proxy, builder -> builder.commandTimeout(Duration.ofSeconds(20)));
        NamedLock lock = registry.get("x");
        proxy.refuse();
        Actor actor = fleet.actor();
        CompletableFuture<Void> locked = actor.begin(lock::lock);
        Actor.pass(Duration.ofMillis(300));
        assertThat(locked).isNotDone();
        long back = System.nanoTime();
        proxy.pass();
        Actor.get(locked);
        Figures.report("a call during an outage: answered %d ms after its end", Figures.millisSince(back));
        actor.run(lock::unlock);
        fleet.awaitNothingLeft();
    }

    @Test
    void aCallThatWaitedInVainIsNotSentLater() throws Exception {
        RedisLockRegistry registry = fleet.registry(proxy, settings);
        proxy.refuse();
        assertThatThrownBy(() -> registry.get("first to notice").tryLock(1, TimeUnit.SECONDS))
                .isInstanceOf(LockUnavailableException.class);
        assertThatThrownBy(() -> registry.get("x").tryLock(1, TimeUnit.SECONDS))
                .isInstanceOf(LockUnavailableException.class);
        fleet.server().command("CONFIG", "SET", "slowlog-log-slower-than", "0");
        proxy.pass();
        Actor.await("connected", () -> Fleet.canLock(registry, "y"));
        assertThat(String.valueOf(fleet.server().command("SLOWLOG", "GET", "-1")))
                .as("what Redis was asked")
                .contains("lock:y")
                .doesNotContain("lock:x");
    }

    @Test
    void theOtherShardsOfAClusterGoOnWhileOneIsAway() throws Exception {
        UnaryOperator<RedisServerBuilder> partial = server -> server.args("--cluster-require-full-coverage", "no");
        try (RedisCluster cluster = RedisCluster.start(0, partial);
                TestRegistries registries = TestRegistries.on(new RedisClusterConfiguration(cluster.nodes()))) {
            RedisLockRegistry registry = registries.registry(settings);
            RedisServer away = cluster.servers().get(1);
            List<String> there = namesOn(cluster, away, USERS);
            String elsewhere = namesOn(cluster, cluster.servers().get(0), 1).get(0);
            Actor.await("connected", () -> Fleet.canLock(registry, there.get(0)) && Fleet.canLock(registry, elsewhere));
            List<Lease> leases = new ArrayList<>();
            for (String name : there) {
                leases.add(registry.acquire(name, LockOptions.defaults()));
            }
            long before = commandsInLettuce();
            away.kill();
            releaseAll(leases);
            long end = System.nanoTime() + OUTAGE.toNanos();
            int holds = 0;
            while (System.nanoTime() - end < 0) {
                NamedLock lock = registry.get(elsewhere);
                lock.lock();
                lock.unlock();
                holds++;
            }
            Actor.pass(COMMAND_TIMEOUT.multipliedBy(2)); // so long an answered command may be remembered
            long kept = commandsInLettuce() - before;
            Figures.report("a shard away for 6 s: %d holds on another, %d commands in Lettuce", holds, kept);
            assertThat(kept).as("commands that Lettuce keeps").isLessThan(ON_THEIR_WAY);
            away.restart();
            Actor.await("works again", () -> Fleet.canLock(registry, there.get(0)));
        }
    }

    private static void releaseAll(List<Lease> leases) {
        leases.stream().map(lease -> lease.closeAfter(Duration.ZERO)).toList().forEach(CompletableFuture::join);
    }

    private static List<String> namesOn(RedisCluster cluster, RedisServer shard, int count) {
        int first = cluster.servers().indexOf(shard) * 16_384 / 3 + 100;
        int last = (cluster.servers().indexOf(shard) + 1) * 16_384 / 3 - 100;
        return IntStream.range(0, Integer.MAX_VALUE)
                .mapToObj(i -> "name-" + i)
                .filter(name -> {
                    int slot = SlotHash.getSlot("lock:" + name);
                    return slot > first && slot < last;
                })
                .limit(count)
                .toList();
    }
}
