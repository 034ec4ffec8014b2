package io.github.lockboot.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.IntStream;

import io.github.lockboot.faults.LeaderInstance.Belief;
import io.github.lockboot.faults.LeaderInstance.Told;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.harness.RedisAddress;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Four processes stand for one role, and something happens to the leader or to Redis, again and again.
 * {@code -Drounds=} says how often, {@code -Dlanes=} on how many servers side by side, {@code -Dseed=} repeats, and
 * {@code -Dfault=} chooses one.
 */
@Tag("full")
class LeadersUnderFaultsTests {

    private enum Fault {
        /** SIGKILL. */
        KILLED,
        /** SIGSTOP for longer than the ttl. */
        PAUSED,
        /** Its connections are closed, in every other round until another leads. */
        CUT,
        /** Redis is restarted with its data, in every other round after longer than the ttl. */
        RESTARTED,
        /** FLUSHALL: Redis does not keep its data. */
        FLUSHED,
        /** It stops standing. */
        STOPPED,
        /** It stands behind the others. */
        RESIGNED
    }

    private static final int ROUNDS = Integer.getInteger("rounds", 14);

    /** A long run, on a machine of its own, also asserts times: in a short one, a single pause would decide. */
    private static final boolean MEASURES = ROUNDS >= 60;

    private static final int LANES = Integer.getInteger("lanes", 2);
    private static final long SEED = Long.getLong("seed", System.currentTimeMillis());
    private static final List<Fault> FAULTS = System.getProperty("fault") == null
            ? List.of(Fault.values())
            : List.of(Fault.valueOf(System.getProperty("fault")));
    private static final int INSTANCES = 4;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration FRESH = Duration.ofMillis(60);

    /** What came of it: when it began, and how long it took until another led; negative if the leader stayed. */
    private record Round(Fault fault, long began, long tookNanos) {}

    /** What is to be counted against a fault. */
    private static final class Figures {

        final List<Long> tookMillis = new ArrayList<>();
        int rounds;
        int overlaps;
        long longestOverlapMicros;
        int wrongEvents;
        int toldLate;

        void add(Figures other) {
            tookMillis.addAll(other.tookMillis);
            rounds += other.rounds;
            overlaps += other.overlaps;
            longestOverlapMicros = Math.max(longestOverlapMicros, other.longestOverlapMicros);
            wrongEvents += other.wrongEvents;
            toldLate += other.toldLate;
        }

        long median() {
            List<Long> sorted = tookMillis.stream().sorted().toList();
            return sorted.isEmpty() ? -1 : sorted.get(sorted.size() / 2);
        }

        long max() {
            return tookMillis.stream().mapToLong(Long::longValue).max().orElse(-1);
        }
    }

    @Test
    void atMostOneBelievesToLeadAndEachIsToldInPairs() throws Exception {
        AtomicInteger begun = new AtomicInteger();
        ExecutorService lanes = Executors.newFixedThreadPool(LANES);
        Callable<Map<Fault, Figures>> lane = () -> {
            try (Lane own = new Lane()) {
                for (int n = begun.getAndIncrement(); n < ROUNDS; n = begun.getAndIncrement()) {
                    own.round(FAULTS.get(n % FAULTS.size()), new Random(SEED + n));
                }
                return own.judge();
            }
        };
        List<Future<Map<Fault, Figures>>> running = lanes.invokeAll(Collections.nCopies(LANES, lane));
        lanes.shutdown();
        Map<Fault, Figures> all = new EnumMap<>(Fault.class);
        for (Future<Map<Fault, Figures>> each : running) {
            each.get()
                    .forEach((fault, figures) ->
                            all.computeIfAbsent(fault, none -> new Figures()).add(figures));
        }
        System.out.printf(
                "seed %d, ttl %d ms%n| fault | rounds | two leaders | wrong events | told late | another leads after, ms: median | max |%n",
                SEED, LeaderInstance.TTL.toMillis());
        all.forEach((fault, it) -> System.out.printf(
                "| %s | %d | %d (%d µs) | %d | %d | %d (of %d) | %d |%n",
                fault,
                it.rounds,
                it.overlaps,
                it.longestOverlapMicros,
                it.wrongEvents,
                it.toldLate,
                it.median(),
                it.tookMillis.size(),
                it.max()));
        all.forEach((fault, it) -> {
            assertThat(it.wrongEvents).as("events, %s, -Dseed=%d", fault, SEED).isZero();
            if (fault != Fault.FLUSHED) {
                assertThat(it.overlaps)
                        .as("two leaders, %s, -Dseed=%d", fault, SEED)
                        .isZero();
            }
            if (!MEASURES) {
                return;
            }
            if (fault == Fault.STOPPED || fault == Fault.RESIGNED) {
                assertThat(it.toldLate).as("told late, %s", fault).isZero();
                assertThat(it.max()).as("%s", fault).isLessThan(200 + Terms.SLACK.toMillis());
            }
            if (fault == Fault.KILLED) {
                assertThat(it.max()).isLessThan(LeaderInstance.TTL.toMillis() + 1_000 + Terms.SLACK.toMillis());
            }
        });
    }

    /** One Redis and its instances, each with a way to it of its own. */
    private static final class Lane implements AutoCloseable {

        private final RedisServer server = RedisServer.start("--appendonly", "yes", "--appendfsync", "always");
        private final List<TcpProxy> proxies =
                IntStream.range(0, INSTANCES).mapToObj(i -> TcpProxy.to(server)).toList();
        private final List<LeaderInstance> alive = new ArrayList<>();
        private final List<LeaderInstance> everStarted = new ArrayList<>();
        private final List<Round> rounds = new ArrayList<>();

        Lane() {
            for (int i = 0; i < INSTANCES; i++) {
                alive.add(started(i));
            }
            alive.forEach(LeaderInstance::awaitReady);
        }

        private LeaderInstance started(int i) {
            TcpProxy proxy = proxies.get(i);
            LeaderInstance started = new LeaderInstance(RedisAddress.standalone(proxy.host(), proxy.port()));
            everStarted.add(started);
            return started;
        }

        void round(Fault fault, Random random) throws InterruptedException {
            awaitLeader(System.nanoTime());
            Pause.nanos((long) (LeaderInstance.TTL.toNanos() * random.nextDouble() / 2));
            Belief old = awaitLeader(System.nanoTime());
            int index = leaderOf(old);
            LeaderInstance leader = alive.get(index);
            TcpProxy proxy = proxies.get(index);
            boolean longer = random.nextBoolean();
            long began = System.nanoTime();
            long since = began;
            Belief next;
            switch (fault) {
                case KILLED -> {
                    leader.kill();
                    next = awaitAnother(old);
                    alive.set(index, started(index));
                    alive.get(index).awaitReady();
                }
                case PAUSED -> {
                    leader.pause();
                    next = awaitAnother(old);
                    Pause.of(LeaderInstance.TTL.dividedBy(2));
                    leader.resume();
                }
                case CUT -> {
                    if (longer) {
                        proxy.refuse();
                        next = awaitAnother(old);
                        proxy.pass();
                    } else {
                        proxy.cut();
                        next = awaitLeader(began);
                    }
                }
                case RESTARTED -> {
                    server.stop();
                    if (longer) {
                        Pause.of(LeaderInstance.TTL.plusMillis(500));
                    }
                    server.restart();
                    since = System.nanoTime();
                    next = awaitLeader(since);
                }
                case FLUSHED -> {
                    server.command("FLUSHALL");
                    next = awaitAnother(old);
                }
                case STOPPED -> {
                    leader.tell("stop");
                    next = awaitAnother(old);
                    leader.tell("start");
                }
                default -> {
                    leader.tell("resign");
                    next = awaitAnother(old);
                }
            }
            rounds.add(new Round(fault, began, next.token() == old.token() ? -1 : Math.max(0, next.from() - since)));
            if (fault != Fault.KILLED && next.token() != old.token()) {
                Await.until(PATIENCE, () -> leader.wasToldTheEndOf(old.token()), () -> "not told: " + leader);
            }
        }

        private int leaderOf(Belief belief) {
            return IntStream.range(0, INSTANCES)
                    .filter(i -> alive.get(i).beliefs().stream().anyMatch(each -> each.token() == belief.token()))
                    .findFirst()
                    .orElseThrow();
        }

        /** The newest that has led after that time. */
        private Belief awaitLeader(long time) {
            return await(belief -> belief.until() - time > FRESH.toNanos());
        }

        private Belief awaitAnother(Belief old) {
            return await(belief -> belief.token() > old.token());
        }

        private Belief await(Predicate<Belief> which) {
            List<Belief> found = new ArrayList<>();
            Await.until(
                    PATIENCE,
                    () -> {
                        alive.stream()
                                .flatMap(instance -> instance.beliefs().stream())
                                .filter(which)
                                .max(Comparator.comparingLong(Belief::token))
                                .ifPresent(found::add);
                        return !found.isEmpty();
                    },
                    () -> "no leader; " + rounds.size() + " rounds; " + alive);
            return found.get(0);
        }

        Map<Fault, Figures> judge() {
            alive.forEach(instance -> instance.tell("leave"));
            for (LeaderInstance instance : alive) {
                Await.until(PATIENCE, instance::hasLeft, () -> "not told the end: " + instance.told());
            }
            Map<Fault, Figures> figures = new EnumMap<>(Fault.class);
            for (Round round : rounds) {
                Figures its = figures.computeIfAbsent(round.fault, none -> new Figures());
                its.rounds++;
                if (round.tookNanos >= 0) {
                    its.tookMillis.add(TimeUnit.NANOSECONDS.toMillis(round.tookNanos));
                }
            }
            for (LeaderInstance one : everStarted) {
                judgeEvents(one, figures);
                for (LeaderInstance other : everStarted) {
                    if (one != other) {
                        judgeBeside(one, other, figures);
                    }
                }
            }
            return figures;
        }

        private Figures at(Map<Fault, Figures> figures, long time) {
            Fault fault = rounds.get(0).fault;
            for (Round round : rounds) {
                fault = round.began <= time ? round.fault : fault;
            }
            return figures.get(fault);
        }

        /** Elected and Revoked in turn, each pair with a larger token, and none for what it believed is missing. */
        private void judgeEvents(LeaderInstance instance, Map<Fault, Figures> figures) {
            List<Told> told = instance.told();
            long token = 0;
            for (int i = 0; i < told.size(); i++) {
                Told each = told.get(i);
                boolean right = each.granted() == (i % 2 == 0)
                        && (each.granted() ? each.token() > token : each.token() == token && !each.leads());
                token = each.token();
                at(figures, each.at()).wrongEvents += right ? 0 : 1;
            }
            for (Belief belief : instance.beliefs()) {
                boolean known = told.stream().anyMatch(each -> each.token() == belief.token());
                boolean killed = !alive.contains(instance);
                at(figures, belief.from()).wrongEvents += known || killed ? 0 : 1;
            }
        }

        private void judgeBeside(LeaderInstance one, LeaderInstance other, Map<Fault, Figures> figures) {
            for (Belief later : other.beliefs()) {
                for (Belief belief : one.beliefs()) {
                    long both = Math.min(belief.until(), later.until()) - later.from();
                    if (belief.token() < later.token() && both > 0) {
                        Figures its = at(figures, later.from());
                        its.overlaps++;
                        its.longestOverlapMicros = Math.max(its.longestOverlapMicros, both / 1_000);
                    }
                }
                for (Told told : one.told()) {
                    if (!told.granted() && told.token() < later.token() && told.at() > later.from()) {
                        at(figures, later.from()).toldLate++;
                    }
                }
            }
        }

        @Override
        public void close() {
            everStarted.forEach(LeaderInstance::close);
            proxies.forEach(TcpProxy::close);
            server.close();
        }
    }
}
