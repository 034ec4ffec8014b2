package io.github.lockboot.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockUnavailableException;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One schedule: a few clients with real engines contend for a name or two on a modelled Redis, while a random number generator
 * plays network, clocks, pauses and crashes. All of it follows from the seed. After a minute or so of simulated time nothing
 * goes wrong any more and nobody asks anew; what is under way then must come to its end.
 */
final class Simulation {

    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000 * MILLI;
    private static final long[] TTLS = {1_000, 2_000, 6_500, 30_000};
    private static final long LONG_WAIT = 600 * SECOND;

    /** What comes to an end after the faults, comes to it within this time: leases, long holds one after the other, key TTLs. */
    private static final long SETTLES = 300 * SECOND;

    /** What the network and the machines are like. */
    enum Weather {
        /** Everything arrives within milliseconds, once. */
        CALM,
        /** Slow, lossy, with repeats, pauses, crashes, cuts. */
        ROUGH,
        /** And the clock of Redis is set forward. */
        CLOCK_STEPS
    }

    private final Random random;
    private final Weather weather;
    private final SimulatedTime time;
    private final SimulatedClient.Faults faults = new SimulatedClient.Faults();
    private final SimulationWitness witness;
    private final SimulatedRedis redis;
    private final Map<String, SimulatedClient> clients = new LinkedHashMap<>();
    private final String[] names;
    private final long faultsEnd;
    private final Map<String, Integer> seen;
    private final List<Wait> waits = new ArrayList<>();
    private boolean ending;

    /** Somebody who has asked for the lock. */
    private static final class Wait {

        final SimulatedClient client;
        final String who;
        final CompletableFuture<Lease> future;

        Wait(SimulatedClient client, String who, CompletableFuture<Lease> future) {
            this.client = client;
            this.who = who;
            this.future = future;
        }
    }

    /** @param seen counts what happened */
    Simulation(long seed, boolean tracing, SimulatedRedis.@Nullable Flaw flaw, Map<String, Integer> seen) {
        this.random = new Random(seed * 0x9E3779B97F4A7C15L + 1);
        this.seen = seen;
        this.time = new SimulatedTime(tracing);
        int dice = random.nextInt(10);
        this.weather = dice == 0 ? Weather.CALM : dice == 1 ? Weather.CLOCK_STEPS : Weather.ROUGH;
        this.witness = new SimulationWitness(weather != Weather.CLOCK_STEPS);
        this.redis = new SimulatedRedis(
                time, flaw, (session, message) -> clients.get(session).published(message));
        this.names = random.nextInt(4) == 0 ? new String[] {"n", "m"} : new String[] {"n"};
        this.faultsEnd = (10 + random.nextInt(50)) * SECOND;
        time.trace(() -> weather + " until " + faultsEnd / MILLI + " ms");
        int handoffLimit = new int[] {0, 1, 64}[random.nextInt(3)];
        int count = 2 + random.nextInt(3);
        for (int i = 0; i < count; i++) {
            String session = "client" + i;
            clients.put(session, new SimulatedClient(session, handoffLimit, time, random, faults, redis, flaw));
        }
    }

    List<String> trace() {
        return time.trace();
    }

    void run() {
        begin();
        time.runUntil(faultsEnd, witness::check);
        ending = true;
        faults.end();
        time.trace(() -> "no more faults");
        time.runUntil(faultsEnd + SETTLES, witness::check);
        for (Wait wait : waits) {
            assertThat(wait.client.isCrashed() || wait.future.isDone())
                    .as("%s waits no more", wait.who)
                    .isTrue();
        }
        for (SimulatedClient client : clients.values()) {
            if (!client.isCrashed()) {
                assertThat(client.engine.inUse())
                        .as("what %s has in use", client.session)
                        .isZero();
            }
        }
        assertThat(redis.keys()).as("what is left in Redis").isEmpty();
    }

    private void begin() {
        if (weather != Weather.CALM) {
            double severity = random.nextDouble() * random.nextDouble();
            faults.lost = random.nextInt(3) == 0 ? 0 : 0.2 * severity;
            faults.late = random.nextInt(3) == 0 ? 0 : 0.3 * severity;
            faults.refused = random.nextInt(3) == 0 ? 0.1 * severity : 0;
            faults.slowestNanos = (long) (MILLI * Math.pow(4_000, random.nextDouble()));
            mishapLater(1 + random.nextInt(10));
        }
        for (SimulatedClient client : clients.values()) {
            int users = 1 + random.nextInt(4);
            for (int i = 0; i < users; i++) {
                String who = client.session + "." + i;
                client.after(upTo(SECOND), () -> ask(client, who));
            }
        }
    }

    // --- mishaps ----------------------------------------------------------------------------------------------

    private void mishapLater(int everySeconds) {
        time.after(upTo(2 * everySeconds * SECOND), () -> {
            if (!ending) {
                mishap(new ArrayList<>(clients.values()).get(random.nextInt(clients.size())));
                mishapLater(everySeconds);
            }
        });
    }

    private void mishap(SimulatedClient client) {
        int dice = random.nextInt(100);
        if (dice < 30) {
            client.pause(upTo(upTo(30 * SECOND)));
        } else if (dice < 60) {
            client.cutConnection(upTo(3 * SECOND));
        } else if (dice < 85) {
            client.cutChannel(upTo(3 * SECOND), upTo(10 * SECOND));
        } else if (dice < 90) {
            client.crash();
        } else if (weather == Weather.CLOCK_STEPS) {
            long step = upTo(upTo(60_000_000_000L)) / 1_000;
            time.trace(() -> "the clock of Redis is set forward by " + step / 1_000 + " ms");
            redis.stepClock(step);
        } else {
            time.trace(() -> "Redis is out of reach");
            faults.redisIsAway = true;
            time.after(upTo(10 * SECOND), () -> faults.redisIsAway = false);
        }
        count("mishap");
    }

    // --- users ------------------------------------------------------------------------------------------------

    private void ask(SimulatedClient client, String who) {
        if (ending) {
            return;
        }
        String name = names[random.nextInt(names.length)];
        Terms terms = new Terms(TTLS[random.nextInt(TTLS.length)], random.nextInt(5) > 0);
        int dice = random.nextInt(10);
        long wait = dice == 0 ? 0 : dice < 7 ? upTo(10 * SECOND) : LONG_WAIT;
        long asked = time.now();
        time.trace(() -> who + " asks for " + name + " on " + terms + ", waits " + wait / MILLI + " ms");
        CompletableFuture<Lease> future = LeaseRequest.make(client.engine, name, null, terms, 0, wait);
        waits.add(new Wait(client, who, future));
        future.whenComplete(witness.watched((lease, failure) -> {
            time.trace(() -> who + (failure == null ? " has " + lease : " fails: " + failure));
            if (failure == null) {
                acquired(client, who, lease);
            } else {
                refused(failure);
                client.after(upTo(SECOND), () -> ask(client, who));
            }
        }));
        if (random.nextInt(20) == 0) {
            client.after(upTo(3 * SECOND), () -> future.cancel(false));
        }
        long bound = wait + SimulatedClient.COMMAND_TIMEOUT.toNanos() * 6 / 5 + SECOND;
        client.after(bound, () -> mustHaveEnded(client, who, future, asked));
    }

    private void mustHaveEnded(SimulatedClient client, String who, CompletableFuture<Lease> future, long asked) {
        if (!future.isDone() && client.hasPausedSince(asked)) {
            client.after(
                    5 * SECOND,
                    () -> assertThat(future.isDone() || client.hasPausedSince(time.now() - 5 * SECOND))
                            .as("the wait of %s has ended after its pause", who)
                            .isTrue());
        } else {
            assertThat(future.isDone())
                    .as("the wait of %s has ended in time", who)
                    .isTrue();
        }
    }

    private void acquired(SimulatedClient client, String who, Lease lease) {
        count("acquired");
        witness.acquired(who, lease);
        long hold = random.nextInt(3) == 0 ? upTo(6 * SECOND) : upTo(20 * MILLI);
        client.after(hold, () -> release(client, who, lease));
    }

    private void release(SimulatedClient client, String who, Lease lease) {
        boolean held = lease.isValid();
        witness.released(lease);
        time.trace(() -> who + " releases " + lease);
        lease.closeAfter(Duration.ZERO).whenComplete(witness.watched((none, failure) -> {
            if (failure != null) {
                lost(held, failure);
            }
        }));
        client.after(random.nextBoolean() ? 0 : upTo(SECOND), () -> ask(client, who));
    }

    private void lost(boolean wasHeld, Throwable failure) {
        count("lost");
        assertThat(failure).isInstanceOf(LockLostException.class);
        if (weather != Weather.CLOCK_STEPS) {
            assertThat(wasHeld)
                    .as("reported lost though it was held to its end")
                    .isFalse();
        }
    }

    private void refused(Throwable failure) {
        count(failure.getClass().getSimpleName());
        if (weather == Weather.CALM) {
            assertThat(failure).isNotInstanceOf(LockUnavailableException.class);
        }
    }

    private void count(String what) {
        seen.merge(what, 1, Integer::sum);
    }

    private long upTo(long nanos) {
        return (long) (random.nextDouble() * nanos);
    }
}
