package io.github.lockboot.engine;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

import io.github.lockboot.redis.protocol.Kind;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One schedule: a few clients with real engines contend for a name or two on a modelled Redis, while a random number
 * generator plays network, clocks, pauses and crashes. All of it follows from the seed. After a minute or so of
 * simulated time nothing goes wrong any more and nobody asks anew; what is under way then must come to its end.
 */
final class Simulation {

    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000 * MILLI;

    private static final List<List<Kind>> KINDS = List.of(
            List.of(Kind.EXCLUSIVE, Kind.SHARED, Kind.SHARED, Kind.SHARED),
            List.of(Kind.limitedTo(2)),
            List.of(Kind.limitedTo(2), Kind.limitedTo(3)),
            List.of(Kind.EXCLUSIVE, Kind.SHARED, Kind.SHARED, Kind.limitedTo(1), Kind.limitedTo(3)));

    private static final long[] TTLS = {1_000, 2_000, 6_500, 30_000};

    /** Leases that a slow network outlasts. */
    private static final long[] SHORT = {1_000};

    /**
     * What comes to an end after the faults, comes to it within this time: leases, long holds one after the other, key
     * TTLs.
     */
    private static final long SETTLES = 300 * SECOND;

    /** What the network and the machines are like. */
    enum Weather {
        /** Everything arrives within milliseconds, once. */
        CALM,
        /** Slow, lossy, with repeats, pauses, crashes, cuts. */
        ROUGH,
        /** And the clock of Redis is set forward, and keys are deleted. */
        DATA_LOSS,
        /** Rough, but only as the specification knows it: one name, no strangers, clocks that never stand still. */
        SPECIFIED
    }

    /**
     * What all in a schedule share.
     *
     * @param kinds how the lock is asked for
     * @param lingers whether some exclusive locks linger
     * @param sends whether some releases are not awaited
     * @param ttls of the locks
     * @param users who asks for the locks
     * @param seen counts what happened
     */
    record World(
            Random random,
            SimulatedTime time,
            Weather weather,
            SimulationWitness witness,
            List<String> names,
            List<Kind> kinds,
            boolean lingers,
            boolean sends,
            long[] ttls,
            List<SimulatedUser> users,
            Map<String, Integer> seen) {

        SimulatedUser anyUser() {
            return users.get(random.nextInt(users.size()));
        }

        long anyTtl() {
            return ttls[random.nextInt(ttls.length)];
        }

        Kind anyKind() {
            return kinds.get(random.nextInt(kinds.size()));
        }

        String anyName() {
            return names.get(random.nextInt(names.size()));
        }

        long upTo(long nanos) {
            return (long) (random.nextDouble() * nanos);
        }

        void count(String what) {
            seen.merge(what, 1, Integer::sum);
        }
    }

    private final World world;
    private final Random random;
    private final SimulatedTime time;
    private final SimulatedClient.Faults faults = new SimulatedClient.Faults();
    private final SimulatedRedis redis;
    private final Map<String, SimulatedClient> clients = new LinkedHashMap<>();
    private final List<SimulatedUser> users = new ArrayList<>();
    private final @Nullable SimulationTrace protocol;
    private final long faultsEnd;
    private boolean ending;

    /** @param seen counts what happened */
    Simulation(long seed, boolean tracing, SimulatedRedis.@Nullable Flaw flaw, Map<String, Integer> seen) {
        this(seed, tracing, flaw, seen, false);
    }

    /**
     * A schedule as the specification knows it, of which there is a trace.
     *
     * @param scripts run in place of their model, if they are given
     */
    static Simulation specified(long seed, @Nullable RealScripts scripts) {
        Simulation specified = new Simulation(seed, false, null, new TreeMap<>(), true);
        specified.redis.runOn(scripts);
        return specified;
    }

    private Simulation(
            long seed,
            boolean tracing,
            SimulatedRedis.@Nullable Flaw flaw,
            Map<String, Integer> seen,
            boolean specified) {
        this.random = new Random(seed * 0x9E3779B97F4A7C15L + 1);
        this.time = new SimulatedTime(tracing);
        int dice = random.nextInt(10);
        Weather weather = specified
                ? Weather.SPECIFIED
                : dice == 0 ? Weather.CALM : dice == 1 ? Weather.DATA_LOSS : Weather.ROUGH;
        List<String> names = random.nextInt(4) == 0 && !specified ? List.of("n", "m") : List.of("n");
        SimulationWitness witness = new SimulationWitness(weather != Weather.DATA_LOSS);
        boolean exclusiveOnly = random.nextBoolean();
        List<Kind> kinds = exclusiveOnly ? List.of(Kind.EXCLUSIVE) : KINDS.get(random.nextInt(KINDS.size()));
        this.world = new World(
                random,
                time,
                weather,
                witness,
                names,
                kinds,
                random.nextBoolean(),
                random.nextBoolean(),
                specified && random.nextBoolean() ? SHORT : TTLS,
                users,
                seen);
        this.redis = new SimulatedRedis(time, flaw, new ToClients());
        this.protocol = specified ? new SimulationTrace(redis) : null;
        redis.traceTo(protocol);
        this.faultsEnd = (10 + random.nextInt(50)) * SECOND;
        time.trace(() -> weather + " until " + faultsEnd / MILLI + " ms");
        int handoffLimit = new int[] {0, 1, 64}[random.nextInt(3)];
        boolean acknowledging = random.nextInt(3) == 0;
        int count = 2 + random.nextInt(3);
        for (int i = 0; i < count; i++) {
            String session = "client" + i;
            SimulatedClient client = new SimulatedClient(
                    session, handoffLimit, acknowledging, time, random, faults, redis, flaw, protocol);
            clients.put(session, client);
            if (protocol != null) {
                protocol.joined(client);
            }
            int usersHere = 1 + random.nextInt(4);
            for (int user = 0; user < usersHere; user++) {
                users.add(new SimulatedUser(client, session + "." + user, world));
            }
        }
    }

    private final class ToClients implements SimulatedRedis.Publisher {

        @Override
        public void toSession(String session, String message) {
            if (clients.containsKey(session)) { // the id of a lock that is kept is nobody's
                clients.get(session).published(message);
            }
        }

        @Override
        public void changed(String session, String key) {
            clients.get(session).changed(key);
            world.count("change announced");
        }
    }

    List<String> trace() {
        return time.trace();
    }

    /** The steps that the specification judges. */
    List<String> protocol() {
        return protocol == null ? List.of() : protocol.lines();
    }

    void run() {
        if (protocol != null) {
            protocol.begins();
        }
        begin();
        time.runUntil(faultsEnd, world.witness()::check);
        ending = true;
        users.forEach(SimulatedUser::leave);
        faults.end();
        time.trace(() -> "no more faults");
        time.runUntil(faultsEnd + SETTLES, world.witness()::check);
        assertThat(users.stream().filter(user -> !user.client.isCrashed()))
                .as("who still waits")
                .noneMatch(SimulatedUser::isWaiting);
        for (SimulatedClient client : clients.values()) {
            if (!client.isCrashed()) {
                assertThat(client.engine.inUse())
                        .as("what %s has in use", client.session)
                        .isZero();
            }
        }
        assertThat(redis.keys()).as("what is left in Redis").isEmpty();
        for (int i = redis.passedOver(); i > 0; i--) {
            world.count("passed over");
        }
    }

    private void begin() {
        if (world.weather() != Weather.CALM) {
            double severity = random.nextDouble() * random.nextDouble();
            faults.lost = random.nextInt(3) == 0 ? 0 : 0.2 * severity;
            faults.late = random.nextInt(3) == 0 ? 0 : 0.3 * severity;
            faults.refused = random.nextInt(3) == 0 ? 0.1 * severity : 0;
            faults.unacknowledged = random.nextInt(3) == 0 ? 0.3 * severity : 0;
            faults.slowestNanos = (long) (MILLI * Math.pow(4_000, random.nextDouble()));
            if (world.ttls() == SHORT && random.nextBoolean()) {
                faults.slowestNanos = 2 * SECOND;
                faults.late = 0.3;
            }
            mishapLater(1 + random.nextInt(10));
        }
        users.forEach(SimulatedUser::askSoon);
    }

    // --- mishaps ----------------------------------------------------------------------------------------------

    private void mishapLater(int everySeconds) {
        time.after(world.upTo(2 * everySeconds * SECOND), () -> {
            if (!ending) {
                mishap(new ArrayList<>(clients.values()).get(random.nextInt(clients.size())));
                mishapLater(everySeconds);
            }
        });
    }

    private void mishap(SimulatedClient client) {
        int dice = random.nextInt(100);
        if (dice < 22 || world.weather() == Weather.SPECIFIED && (dice < 30 || dice >= 91 && dice < 94)) {
            client.pause(world.upTo(world.upTo(30 * SECOND)));
        } else if (dice < 28) {
            client.sleep(world.upTo(world.upTo(30 * SECOND)));
            world.count("slept");
        } else if (dice < 30) {
            client.setTimeOfDay(world.upTo(world.upTo(120 * SECOND)) - 10 * SECOND);
            world.count("time of day set");
        } else if (dice < 60) {
            client.cutConnection(world.upTo(3 * SECOND));
        } else if (dice < 85) {
            client.cutChannel(world.upTo(3 * SECOND), world.upTo(10 * SECOND));
        } else if (dice < 89) {
            client.crash();
        } else if (dice < 91) {
            stop(client);
        } else if (dice < 94) {
            strangerComes(world.anyName());
        } else if (world.weather() == Weather.DATA_LOSS && random.nextBoolean()) {
            String name = world.anyName();
            time.trace(() -> "somebody deletes " + name);
            redis.delete("lock:" + name);
            world.count("deleted");
        } else if (world.weather() == Weather.DATA_LOSS) {
            long step = world.upTo(world.upTo(60_000_000_000L)) / 1_000;
            time.trace(() -> "the clock of Redis is set forward by " + step / 1_000 + " ms");
            redis.stepClock(step);
        } else {
            time.trace(() -> "Redis is out of reach");
            faults.redisIsAway = true;
            time.after(world.upTo(10 * SECOND), () -> faults.redisIsAway = false);
        }
        world.count("mishap");
    }

    private void stop(SimulatedClient client) {
        client.after(0, () -> {
            client.stop();
            world.count("stopped");
            users.stream().filter(user -> user.client == client).forEach(user -> user.mustEndWithin(SECOND));
        });
    }

    private void strangerComes(String name) {
        long ttl = world.upTo(10 * SECOND);
        if (redis.setByStranger("lock:" + name, ttl / 1_000)) {
            time.trace(() -> "a stranger sets " + name + " for " + ttl / MILLI + " ms");
            world.count("stranger");
            world.witness().takenByStranger(name);
        }
    }
}
