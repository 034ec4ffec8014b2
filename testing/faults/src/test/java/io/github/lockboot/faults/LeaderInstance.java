package io.github.lockboot.faults;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.lockboot.LockOptions;
import io.github.lockboot.harness.RedisAddress;
import io.github.lockboot.harness.WorkerProcess;
import io.github.lockboot.leader.LeaderElection;
import io.github.lockboot.redis.RedisLockRegistry;

/**
 * A process that stands for election, and asks all the time whether it leads. It says what its listener is told, and
 * from when until when it believed to lead, in nanoseconds that all processes of a machine share.
 */
final class LeaderInstance extends WorkerProcess {

    static final Duration TTL = Duration.ofSeconds(2);

    /** An event, and whether the instance believed to lead when it was delivered. */
    record Told(boolean granted, long token, long at, boolean leads) {}

    /** For how long an instance certainly believed to lead: from the first answer to the last. */
    record Belief(long token, long from, long until) {}

    private record Record(List<Told> told, Map<Long, Belief> beliefs, AtomicBoolean left) {}

    private final Record record;

    private LeaderInstance(RedisAddress redis, Record record) {
        super(
                Path.of(System.getProperty("java.home")),
                List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx64m"),
                LeaderInstance.class,
                List.of(redis.toWord()),
                line -> record(line, record));
        this.record = record;
    }

    LeaderInstance(RedisAddress redis) {
        this(redis, new Record(new CopyOnWriteArrayList<>(), new ConcurrentHashMap<>(), new AtomicBoolean()));
    }

    private static boolean record(String line, Record record) {
        String[] words = line.split(" ");
        switch (words[0]) {
            case "granted", "revoked" ->
                record.told.add(new Told(
                        words[0].equals("granted"),
                        Long.parseLong(words[1]),
                        Long.parseLong(words[2]),
                        Boolean.parseBoolean(words[3])));
            case "leads" -> {
                Belief belief =
                        new Belief(Long.parseLong(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]));
                record.beliefs.put(belief.token, belief);
            }
            case "left" -> record.left.set(true);
            default -> {
                return false;
            }
        }
        return true;
    }

    /** Whether it has done what it was told by {@code leave}: nothing is told any more. */
    boolean hasLeft() {
        return record.left.get();
    }

    List<Told> told() {
        return record.told;
    }

    List<Belief> beliefs() {
        return List.copyOf(record.beliefs.values());
    }

    boolean wasToldTheEndOf(long token) {
        return record.told.stream().anyMatch(told -> !told.granted && told.token == token);
    }

    // --- in the process ---------------------------------------------------------------------------------------

    public static void main(String[] args) throws Exception {
        System.setErr(System.out);
        RedisLockRegistry registry = RedisLockRegistry.builder(
                        RedisAddress.parse(args[0]).forSpring())
                .commandTimeout(Terms.COMMAND_TIMEOUT)
                .defaults(LockOptions.defaults().withTtl(TTL))
                .build();
        registry.connect().exceptionally(none -> null).join(); // as the start of an application does
        LeaderElection election = LeaderElection.of(registry, "leader");
        election.addListener(new LeaderElection.Listener() {
            @Override
            public void onElected(LeaderElection.Elected event) {
                say("granted", event);
            }

            @Override
            public void onRevoked(LeaderElection.Revoked event) {
                say("revoked", event);
            }

            private void say(String what, LeaderElection.Event event) {
                System.out.println(
                        what + " " + event.fencingToken() + " " + System.nanoTime() + " " + election.isLeader());
            }
        });
        Thread asking = new Thread(() -> Asking.whether(
                election,
                (token, from, until, over) -> System.out.println("leads " + token + " " + from + " " + until),
                () -> true));
        asking.setDaemon(true);
        asking.start();
        election.start();
        System.out.println("ready");
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            switch (order) {
                case "stop" -> election.stop();
                case "leave" -> election.stop(() -> System.out.println("left"));
                case "start" -> election.start();
                default -> election.resign();
            }
        }
        Runtime.getRuntime().halt(0);
    }
}
