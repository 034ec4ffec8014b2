package io.github.lockboot.redis.fleet;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.StoredLock;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.TestRegistries;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Flights over several registries that stand for JVMs: what they cost, and leaders, channels and connections that fail.
 */
class FlightTests {

    private static final Duration TTL = Duration.ofSeconds(3);
    private static final Duration POLL = Duration.ofSeconds(2);
    private static final Duration SLACK = Duration.ofSeconds(4); // for a busy machine
    private static final LockOptions PATIENT = LockOptions.defaults().withWaitTime(Duration.ofSeconds(25));
    private static final String FLIGHT = "token";

    private final Fleet fleet = new Fleet();
    private final AtomicReference<String> cache = new AtomicReference<>();
    private final AtomicInteger loads = new AtomicInteger();
    private final CompletableFuture<Void> upstream = new CompletableFuture<>();

    @AfterEach
    void stop() {
        fleet.close();
    }

    private List<RedisLockRegistry> registries(int count) {
        return IntStream.range(0, count).mapToObj(i -> fleet.registry()).toList();
    }

    private String load() {
        int which = loads.incrementAndGet();
        upstream.join();
        cache.set("value " + which);
        return cache.get();
    }

    private String fly(RedisLockRegistry registry) {
        return new LockTemplate(registry, Duration.ZERO).singleFlight("token", PATIENT, cache::get, this::load);
    }

    private CompletableFuture<String> caller(RedisLockRegistry registry) {
        Actor caller = fleet.actor();
        CompletableFuture<String> value = caller.start(() -> fly(registry));
        Actor.await("it leads or waits", caller::isWaiting);
        return value;
    }

    private List<CompletableFuture<String>> callers(int count, List<RedisLockRegistry> registries) {
        return IntStream.range(0, count)
                .mapToObj(i -> caller(registries.get(i % registries.size())))
                .toList();
    }

    private static void assertAllGet(String value, List<CompletableFuture<String>> callers) throws Exception {
        for (CompletableFuture<String> caller : callers) {
            assertThat(Actor.get(caller)).isEqualTo(value);
        }
    }

    private void awaitListening(int registries) {
        Actor.await(registries + " listen to announcements", () -> {
            List<?> subscribers = (List<?>) fleet.server().command("PUBSUB", "NUMSUB", "lock:flights:0");
            return subscribers.get(1).equals((long) registries);
        });
    }

    private long count(String... commands) {
        Map<String, Long> calls;
        try (RedisProbe probe = fleet.server().probe()) {
            calls = probe.commandCalls();
        }
        long sum = 0;
        for (String command : commands) {
            sum += calls.getOrDefault(command, 0L);
        }
        return sum;
    }

    /** Has Redis know the scripts. */
    private static void flyBefore(RedisLockRegistry registry) {
        new LockTemplate(registry, Duration.ZERO).singleFlight("before", () -> null, () -> "value");
    }

    private long scripts() {
        return count("evalsha", "eval");
    }

    private void awaitQuietMoment() {
        Actor.await("nobody polls for a while", () -> {
            long before = scripts();
            Actor.pass(Duration.ofMillis(300));
            return scripts() == before;
        });
    }

    @Test
    void aFleetLoadsOnce() throws Exception {
        List<CompletableFuture<String>> callers = callers(50, registries(4));
        upstream.complete(null);
        assertAllGet("value 1", callers);
        assertThat(loads).hasValue(1);
        fleet.awaitNothingLeft();
    }

    @Test
    void aLoadedValueIsOneMessageAndEachInstanceLeavesWithOneCommandHoweverManyWait() throws Exception {
        List<RedisLockRegistry> registries = registries(4);
        flyBefore(registries.get(0));
        List<CompletableFuture<String>> callers = callers(50, registries);
        fleet.awaitQueued(FLIGHT, 3);
        awaitListening(4);
        awaitQuietMoment();
        long scripts = scripts();
        long start = System.nanoTime();
        try (RedisProbe subscriber = fleet.server().probe()) {
            subscriber.command("SUBSCRIBE", "lock:flights:0");
            upstream.complete(null);
            assertAllGet("value 1", callers);
            fleet.awaitNothingLeft();
            assertThat(subscriber.command("PING")).isEqualTo(List.of("message", "lock:flights:0", "token"));
            assertThat(subscriber.command("PING")).as("no second message").isEqualTo(List.of("pong", ""));
        }
        long sent = scripts() - scripts;
        long polls = 3 * (Figures.millisSince(start) / POLL.toMillis() + 1);
        Figures.report("50 callers of 4 instances: %d commands", sent);
        assertThat(sent)
                .as("announcement and release, one or, if the grant comes first, two for each instance, and its polls")
                .isBetween(5L, 10L + polls);
    }

    /** A channel belongs to all databases of a server. */
    @Test
    void flightsOfTwoDatabasesDoNotMeet() throws Exception {
        RedisStandaloneConfiguration database1 = new RedisStandaloneConfiguration(
                fleet.server().host(), fleet.server().port());
        database1.setDatabase(1);
        AtomicInteger looks = new AtomicInteger();
        try (TestRegistries others = TestRegistries.on(database1);
                RedisProbe probe = fleet.server().probe()) {
            probe.command("SELECT", "1");
            RedisLockRegistry other = others.connected();
            Lease held = other.acquire(FLIGHT);
            CompletableFuture<String> waiting = new LockTemplate(other, Duration.ZERO)
                    .singleFlightAsync(
                            FLIGHT,
                            PATIENT,
                            () -> {
                                looks.incrementAndGet();
                                return CompletableFuture.completedFuture(null);
                            },
                            () -> CompletableFuture.completedFuture("of database 1"));
            CompletableFuture<Void> second = fleet.actor()
                    .begin(() -> others.registry().acquire(FLIGHT, PATIENT).close());
            Actor.await("it is queued", () -> StoredLock.at(probe, "lock:token").isWaitedFor());
            List<CompletableFuture<String>> callers = callers(4, registries(2));
            awaitListening(2);
            upstream.complete(null);
            assertAllGet("value 1", callers);
            Actor.pass(Duration.ofMillis(300)); // an announcement would have come
            assertThat(looks).hasValue(1);
            assertThat(StoredLock.at(probe, "lock:token").isWaitedFor()).isTrue();
            held.close();
            assertThat(Actor.get(waiting)).isEqualTo("of database 1");
            Actor.get(second);
        }
        fleet.awaitNothingLeft();
    }

    @Test
    void aFlightThatNobodyElseWantsIsThreeCommands() {
        RedisLockRegistry registry = fleet.registry();
        flyBefore(registry);
        awaitQuietMoment();
        upstream.complete(null);
        long scripts = scripts();
        fly(registry);
        Actor.await("lock, announcement and release", () -> scripts() - scripts == 3);
        fly(registry);
        assertThat(scripts() - scripts).as("with a full cache").isEqualTo(3);
        assertThat(count("subscribe")).isZero();
        fleet.awaitNothingLeft();
    }

    @Test
    void whoNeverFliesListensToNoAnnouncements() throws Exception {
        RedisLockRegistry registry = fleet.registry();
        RedisLockRegistry other = fleet.registry();
        Actor holder = fleet.holder(registry.get("x"));
        Actor waiter = fleet.actor();
        CompletableFuture<Void> waiting = waiter.begin(() -> other.get("x").lock());
        fleet.awaitQueued("x", 1);
        Actor.await("it is subscribed", () -> count("subscribe") == 1);
        assertThat((List<?>) fleet.server().command("PUBSUB", "CHANNELS", "lock:flights:*"))
                .isEmpty();
        holder.run(registry.get("x")::unlock);
        Actor.get(waiting);
        waiter.run(other.get("x")::unlock);
    }

    @Test
    void whenTheLeaderFailsExactlyOneTakesOver() throws Exception {
        List<RedisLockRegistry> registries = registries(4);
        CompletableFuture<Void> failure = new CompletableFuture<>();
        Actor first = fleet.actor();
        CompletableFuture<String> leader = first.start(
                () -> new LockTemplate(registries.get(0), Duration.ZERO).singleFlight("token", cache::get, () -> {
                    failure.join();
                    throw new IllegalStateException("upstream is down");
                }));
        Actor.await("it leads", () -> registries.get(1).get(FLIGHT).isLocked());
        List<CompletableFuture<String>> others = callers(12, registries.subList(1, 4));
        fleet.awaitQueued(FLIGHT, 3);
        failure.complete(null);
        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> Actor.get(leader));
        Actor.await("another leads", () -> loads.get() == 1);
        upstream.complete(null);
        assertAllGet("value 1", others);
        assertThat(loads).hasValue(1);
        fleet.awaitNothingLeft();
    }

    @Test
    void whenTheProcessOfTheLeaderIsGoneAnotherTakesOverAfterItsLease() throws Exception {
        TcpProxy proxy = fleet.proxy();
        fleet.holder(fleet.registry(proxy, Fleet.ttl(TTL)).get(FLIGHT)); // leads for ever
        List<CompletableFuture<String>> callers = callers(8, registries(2));
        fleet.awaitQueued(FLIGHT, 2);
        upstream.complete(null);
        long killed = System.nanoTime();
        proxy.refuse(); // what Redis and the others see of a kill
        assertAllGet("value 1", callers);
        Duration waited = Duration.ofNanos(System.nanoTime() - killed);
        Figures.report("leader gone: all served after %d ms, ttl %d ms", waited.toMillis(), TTL.toMillis());
        assertThat(waited).isLessThan(TTL.plus(POLL).plus(SLACK));
        assertThat(loads).hasValue(1);
        fleet.awaitNothingLeft();
    }

    @Test
    void aLeaderCutOffFromRedisIsToldAndAnotherTakesOver() throws Exception {
        TcpProxy proxy = fleet.proxy();
        RedisLockRegistry cut = fleet.registry(proxy, Fleet.ttl(TTL));
        CompletableFuture<Void> loading = new CompletableFuture<>();
        CompletableFuture<Void> slow = new CompletableFuture<>();
        CompletableFuture<String> leader = fleet.actor()
                .start(() -> new LockTemplate(cut, Duration.ZERO).singleFlight("token", cache::get, () -> {
                    loading.complete(null);
                    slow.join();
                    return "too late";
                }));
        RedisLockRegistry other = fleet.registry();
        Actor.get(loading);
        CompletableFuture<String> next = caller(other);
        proxy.swallowRequests();
        upstream.complete(null);
        assertThat(Actor.get(next)).isEqualTo("value 1");
        slow.complete(null);
        assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> Actor.get(leader));
        proxy.pass();
        fleet.awaitNothingLeft();
    }

    @Test
    void aFollowerOutOfReachOfRedisIsTold() {
        TcpProxy proxy = fleet.proxy();
        RedisLockRegistry cut = fleet.registry(proxy, builder -> builder.commandTimeout(Duration.ofMillis(300)));
        proxy.swallowRequests();
        assertThatExceptionOfType(LockUnavailableException.class)
                .isThrownBy(() -> fly(cut))
                .satisfies(told -> assertThat(told.getLockName()).isEqualTo(FLIGHT));
        assertThat(loads).hasValue(0);
        proxy.pass();
        fleet.awaitNothingLeft();
    }

    @Test
    void whereTheChannelsAreCutWhileTheyWaitAllAreServed() throws Exception {
        List<CompletableFuture<String>> callers = callers(12, registries(3));
        fleet.awaitQueued(FLIGHT, 2);
        awaitListening(3);
        fleet.server().command("ACL", "SETUSER", "default", "resetchannels");
        fleet.server().command("CLIENT", "KILL", "TYPE", "pubsub");
        assertServedInTime(callers);
    }

    @Test
    void onceAnnouncementsMayBeListenedToTheyAre() throws Exception {
        fleet.server().command("ACL", "SETUSER", "default", "resetchannels", "&lock:client:*");
        List<CompletableFuture<String>> callers = callers(6, registries(2));
        fleet.awaitQueued(FLIGHT, 1);
        awaitRefusedSubscription();
        fleet.server().command("ACL", "SETUSER", "default", "allchannels");
        awaitListening(2);
        upstream.complete(null);
        assertAllGet("value 1", callers);
        fleet.awaitNothingLeft();
    }

    private void awaitRefusedSubscription() {
        Actor.await(
                "a subscription is refused",
                () -> String.valueOf(fleet.server().command("ACL", "LOG")).contains("lock:flights:0"));
    }

    @Test
    void whereThereNeverWasAChannelAllAreServed() throws Exception {
        fleet.server().command("ACL", "SETUSER", "default", "resetchannels");
        List<CompletableFuture<String>> callers = callers(12, registries(3));
        fleet.awaitQueued(FLIGHT, 2);
        assertServedInTime(callers);
    }

    /** As where rights were granted before there were flights: grants must go on being pushed. */
    @Test
    void whereOnlyAnnouncementsMayNotBeListenedToAllAreServedAndLocksAreAsBefore() throws Exception {
        fleet.server().command("ACL", "SETUSER", "default", "resetchannels", "&lock:client:*");
        List<RedisLockRegistry> registries = registries(3);
        List<CompletableFuture<String>> callers = callers(12, registries);
        fleet.awaitQueued(FLIGHT, 2);
        assertServedInTime(callers);
        Actor holder = fleet.holder(registries.get(0).get("x"));
        Actor waiter = fleet.actor();
        CompletableFuture<Long> served = waiter.start(() -> {
            registries.get(1).get("x").lock();
            return System.nanoTime();
        });
        fleet.awaitQueued("x", 1);
        Actor.pass(Duration.ofSeconds(3)); // past what an attempt to subscribe again could disturb
        List<?> live = (List<?>) fleet.server().command("PUBSUB", "CHANNELS", "lock:client:*");
        assertThat(live).as("sessions still subscribed").hasSizeGreaterThanOrEqualTo(2);
        holder.run(registries.get(0).get("x")::unlock);
        Actor.get(served);
        waiter.run(registries.get(1).get("x")::unlock);
        fleet.awaitNothingLeft();
    }

    private void assertServedInTime(List<CompletableFuture<String>> callers) throws Exception {
        long done = System.nanoTime();
        upstream.complete(null);
        assertAllGet("value 1", callers);
        Duration waited = Duration.ofNanos(System.nanoTime() - done);
        Figures.report("no announcements: all followers served after %d ms", waited.toMillis());
        assertThat(waited)
                .as("two polls of two instances that meet")
                .isLessThan(POLL.multipliedBy(3).plus(SLACK));
        assertThat(loads).hasValue(1);
        fleet.awaitNothingLeft();
    }

    @Test
    void flightAfterFlightOfManyCallersLeavesNothing() throws Exception {
        Versions versions = new Versions(100);
        versions.getAll(registries(4), 16);
        assertThat(versions.made).as("loads").hasValue(100);
        fleet.awaitNothingLeft();
    }

    /** Commands are sent again, answers and messages are missed. */
    @Test
    void connectionsThatAreCutAgainAndAgainLoadNothingTwice() throws Exception {
        List<RedisLockRegistry> registries = registries(4);
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Void> cutting = fleet.actor().begin(() -> {
            while (!over.get()) {
                fleet.server().command("CLIENT", "KILL", "TYPE", "pubsub");
                Actor.pass(Duration.ofMillis(20));
                fleet.server().command("CLIENT", "KILL", "TYPE", "normal");
                Actor.pass(Duration.ofMillis(60));
            }
        });
        Versions versions = new Versions(30);
        versions.getAll(registries, 16);
        over.set(true);
        Actor.get(cutting);
        assertThat(versions.made).as("loads").hasValue(30);
        fleet.awaitNothingLeft();
    }

    /** A value that is made anew again and again, each time by one who leads. */
    private final class Versions {

        private final int last;
        private final AtomicInteger version = new AtomicInteger();
        private final AtomicInteger made = new AtomicInteger();
        private final AtomicInteger leaders = new AtomicInteger();
        private final AtomicInteger mostLeaders = new AtomicInteger();

        Versions(int last) {
            this.last = last;
        }

        void getAll(List<RedisLockRegistry> registries, int callers) throws Exception {
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int i = 0; i < callers; i++) {
                LockTemplate template = new LockTemplate(registries.get(i % registries.size()), Duration.ZERO);
                all.add(fleet.actor().begin(() -> {
                    while (version.get() < last) {
                        get(template, version.get() + 1);
                    }
                }));
            }
            for (CompletableFuture<Void> each : all) {
                each.get(2, TimeUnit.MINUTES);
            }
            assertThat(mostLeaders).as("leaders at a time").hasValue(1);
        }

        private void get(LockTemplate template, int wanted) {
            try {
                int got = template.singleFlight("version", PATIENT, () -> cached(wanted), this::make);
                assertThat(got).isGreaterThanOrEqualTo(wanted);
            } catch (LockUnavailableException again) {
                Thread.onSpinWait(); // the connection was cut before it was queued
            }
        }

        private @Nullable Integer cached(int wanted) {
            int current = version.get();
            return current >= wanted ? current : null;
        }

        private int make() {
            mostLeaders.accumulateAndGet(leaders.incrementAndGet(), Math::max);
            made.incrementAndGet();
            Thread.yield();
            int next = version.incrementAndGet();
            leaders.decrementAndGet();
            return next;
        }
    }
}
