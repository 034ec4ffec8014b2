package io.github.lockboot.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;

import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.Replication;
import io.github.lockboot.harness.Contender;
import io.github.lockboot.harness.Contender.Client;
import io.github.lockboot.harness.Redisson;
import io.github.lockboot.harness.ThisLibrary;
import io.github.lockboot.harness.Timing;
import io.github.lockboot.redis.RedisLockRegistry.Acknowledge;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.opentest4j.TestAbortedException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The master is killed as soon as it has granted a lock, and another client asks its successor for it. In three rounds
 * of four replication stands still for a moment when the lock is asked for, so that what is granted then is lost. The
 * successor of a server without replicas is itself, started again on the same disk. {@code -Drounds=} says how often,
 * {@code -Dlanes=} on how many deployments side by side.
 */
@Tag("failover")
class KilledMasterTests {

    private static final int ROUNDS = Integer.getInteger("rounds", 20);
    private static final int LANES = Integer.getInteger("lanes", 2);
    private static final Duration STANDSTILL = Duration.ofMillis(300);
    private static final Duration AFTER_FAILOVER = Duration.ofMillis(1_500);

    /** A lease so long that no renewal finds that the lock is lost before another has been granted it. */
    private static final Timing TIMING = new Timing(Duration.ofSeconds(30), Terms.COMMAND_TIMEOUT);

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /**
     * What came of a round: for how long the first believed beside the second, and its writes that were accepted then.
     */
    private record Round(long overlapMillis, long staleWrites) {}

    static Stream<Arguments> deploymentsAndContenders() {
        Contender all = new ThisLibrary("acknowledge=all", 64, Acknowledge.ALL, TIMING);
        Contender aof = new ThisLibrary("acknowledge=aof", 64, Acknowledge.AOF, TIMING);
        Contender none = new ThisLibrary("acknowledge=none", 64, TIMING);
        Contender redisson = new Redisson("Redisson RLock", Redisson.Type.PLAIN, TIMING);
        return Stream.concat(
                Stream.of("Sentinel", "Cluster")
                        .flatMap(kind -> Stream.of(all, none, redisson).map(each -> Arguments.of(kind, each))),
                Stream.of(aof, none).map(each -> Arguments.of("append-only file", each)));
    }

    private static Replicated deploy(String kind) {
        return switch (kind) {
            case "Sentinel" -> new SentinelGroup();
            case "Cluster" -> new ClusterOfThree();
            default -> new DurableServer();
        };
    }

    @ParameterizedTest
    @MethodSource("deploymentsAndContenders")
    void whatIsAcknowledgedOutlivesTheMaster(String kind, Contender contender) throws Exception {
        ExecutorService lanes = Executors.newFixedThreadPool(LANES);
        AtomicInteger begun = new AtomicInteger();
        List<Future<List<Round>>> running =
                lanes.invokeAll(Collections.nCopies(LANES, () -> rounds(kind, contender, begun)));
        lanes.shutdown();
        List<Round> rounds = new ArrayList<>();
        for (Future<List<Round>> lane : running) {
            rounds.addAll(resultOf(lane));
        }
        long overlaps = rounds.stream().filter(round -> round.overlapMillis > 0).count();
        long staleWrites = rounds.stream().mapToLong(Round::staleWrites).sum();
        System.out.printf(
                "%s, %s: %d rounds, %d with two holders, for at most %d ms; %d stale writes accepted%n",
                kind,
                contender.name(),
                rounds.size(),
                overlaps,
                rounds.stream().mapToLong(Round::overlapMillis).max().orElse(0),
                staleWrites);
        assertThat(rounds).hasSize(ROUNDS);
        if (contender.name().equals("acknowledge=all") || contender.name().equals("acknowledge=aof")) {
            assertThat(overlaps).as("rounds with two holders").isZero();
            assertThat(staleWrites).as("stale writes accepted").isZero();
        }
    }

    private static <T> T resultOf(Future<T> lane) throws Exception {
        try {
            return lane.get();
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof Deployment.NotHereException notHere
                    ? new TestAbortedException(notHere.getMessage())
                    : failed;
        }
    }

    private static List<Round> rounds(String kind, Contender contender, AtomicInteger begun) throws Exception {
        List<Round> rounds = new ArrayList<>();
        try (Replicated redis = deploy(kind);
                Witness witness = new Witness()) {
            for (int n = begun.getAndIncrement(); n < ROUNDS; n = begun.getAndIncrement()) {
                rounds.add(round(redis, contender, witness, n));
            }
        }
        return rounds;
    }

    private static Round round(Replicated redis, Contender contender, Witness witness, int n) throws Exception {
        redis.awaitWhole();
        String name = contender.name().replace(' ', '-') + "-" + n;
        RedisServer master = redis.serverOf(contender.key(name));
        ExecutorService threads = Executors.newCachedThreadPool();
        try (Client first = contender.connect(redis.address(0));
                Client second = contender.connect(redis.address(1))) {
            taken(first.lock(name)).unlock();
            taken(second.lock(name)).unlock();
            CompletableFuture<Void> killed = new CompletableFuture<>();
            CompletableFuture<Long> granted = new CompletableFuture<>();
            CompletableFuture<Void> over = new CompletableFuture<>();
            if (n % 4 != 0) {
                Replication.Pause pause = Replication.pause(master, redis.replicasOf(master));
                CompletableFuture.delayedExecutor(STANDSTILL.toMillis(), TimeUnit.MILLISECONDS, threads)
                        .execute(pause::end);
            }
            CompletableFuture<Round> holder = CompletableFuture.supplyAsync(
                    () -> {
                        Lock lock = taken(first.lock(name));
                        master.kill();
                        killed.complete(null);
                        return hold(first, lock, name, new WitnessClient(witness.port()), granted, over);
                    },
                    threads);
            killed.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            CompletableFuture<Void> next = CompletableFuture.runAsync(
                    () -> {
                        Lock lock = taken(second.lock(name));
                        new WitnessClient(witness.port()).read(name, second.token(lock));
                        granted.complete(System.nanoTime());
                        over.join();
                        quietly(lock);
                    },
                    threads);
            redis.awaitSuccessor(master, contender.key(name));
            Pause.of(AFTER_FAILOVER);
            over.complete(null);
            Round round = holder.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            if (!master.isAlive()) {
                master.restart(); // its successor may have had no other replica
            }
            next.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            return round;
        } finally {
            if (!master.isAlive()) {
                master.restart();
            }
            threads.shutdown();
        }
    }

    /** Asks whether it still holds, and writes, until it does not or is over. */
    private static Round hold(
            Client client,
            Lock lock,
            String name,
            WitnessClient witness,
            CompletableFuture<Long> other,
            CompletableFuture<Void> over) {
        long overlap = 0;
        long accepted = 0;
        try {
            long token = client.token(lock);
            long read = witness.read(name, token);
            while (!over.isDone()) {
                boolean beside = other.isDone();
                long asked = System.nanoTime();
                if (!client.isHeld(lock)) {
                    Pause.of(Duration.ofMillis(5));
                    continue;
                }
                long written = witness.write(name, token, read);
                if (beside) {
                    overlap = Math.max(overlap, TimeUnit.NANOSECONDS.toMillis(asked - other.join()) + 1);
                    accepted += written == WitnessClient.REFUSED ? 0 : 1;
                }
                read = Math.max(read, written);
                Pause.of(Duration.ofMillis(2));
            }
        } catch (RuntimeException lost) {
            // it knows that it does not hold
        }
        quietly(lock);
        return new Round(overlap, accepted);
    }

    private static Lock taken(Lock lock) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                lock.lock();
                return lock;
            } catch (RuntimeException unavailable) {
                if (System.nanoTime() - end > 0) {
                    throw unavailable;
                }
                Pause.of(Duration.ofMillis(20));
            }
        }
    }

    private static void quietly(Lock lock) {
        try {
            lock.unlock();
        } catch (RuntimeException lost) {
            // it was lost
        }
    }
}
