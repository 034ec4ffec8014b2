package io.github.lockboot.faults;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.faults.Event.Kind;
import io.github.lockboot.harness.RedisAddress;
import io.github.lockboot.harness.Worker;
import io.github.lockboot.redis.RedisLockRegistry;

/**
 * A JVM that has leases, writes at the witness while it has one, and gives them to others like it. It is told by lines
 * on its standard input what to do, and writes its event log to its standard output.
 *
 * <pre>
 * hold LOCK          acquires a lease and works under it until it is told to end that
 * want LOCK          acquires a lease, works one step, releases it
 * take LOCK TEXT     takes a lease over and works under it until it is told to end that
 * release LOCK       ends a lease
 * give LOCK          ends it by a hand-over, and says the text
 * in-use             says what is in use
 * </pre>
 */
public final class HandOverWorker {

    static final String GAVE = "gave ";
    static final String NOT_GIVEN = "not given ";
    static final String TOOK = "took ";
    static final String NOT_TAKEN = "not taken ";
    static final String RELEASED = "released ";
    static final String IN_USE = "in use ";

    private static final Duration STEP = Duration.ofMillis(3);

    /** For how long a take-over is tried: the lease lasts longer. */
    private static final Duration TAKES_WITHIN = Duration.ofSeconds(2);

    private static final LockOptions TAKING = LockOptions.defaults().withWaitTime(TAKES_WITHIN);
    private static final LockOptions WAITING = LockOptions.defaults().withWaitTime(Scene.PATIENCE);

    private static final AtomicLong HOLDS = new AtomicLong();
    private static final long PROCESS = ProcessHandle.current().pid();

    /** How a lease is got. */
    private interface Way {
        Lease lease() throws InterruptedException;
    }

    private final String name;
    private final RedisLockRegistry registry;
    private final int witness;
    private final Map<String, String> ends = new ConcurrentHashMap<>();

    private HandOverWorker(String name, RedisLockRegistry registry, int witness) {
        this.name = name;
        this.registry = registry;
        this.witness = witness;
    }

    /** @param args its name, the address of Redis, the port of the witness */
    public static void main(String[] args) throws Exception {
        System.setErr(System.out); // so that the lines of both stay whole
        RedisLockRegistry registry = RedisLockRegistry.builder(
                        RedisAddress.parse(args[1]).forSpring())
                .commandTimeout(Terms.COMMAND_TIMEOUT)
                .defaults(LockOptions.defaults().withTtl(Terms.TTL))
                .build();
        registry.connect().exceptionally(none -> null).join(); // as the start of an application does
        Lease first = registry.acquire("connecting-" + PROCESS, WAITING);
        registry.takeOver(first.handOver(), TAKING).close(); // its classes are loaded
        HandOverWorker worker = new HandOverWorker(args[0], registry, Integer.parseInt(args[2]));
        System.out.println(Worker.READY);
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            worker.perform(order.split(" "));
        }
        Runtime.getRuntime().halt(0);
    }

    private void perform(String... words) {
        switch (words[0]) {
            case "hold" -> begin(words[1], Kind.GRANTED, () -> registry.acquire(words[1], WAITING));
            case "want" -> {
                begin(words[1], Kind.GRANTED, () -> registry.acquire(words[1], WAITING));
                ends.put(words[1], "release");
            }
            case "take" -> {
                String text = new String(Base64.getDecoder().decode(words[2]), StandardCharsets.UTF_8);
                begin(words[1], Kind.TAKEN_OVER, () -> registry.takeOver(text, TAKING));
            }
            case "in-use" -> System.out.println(IN_USE + registry.inspector().inUse());
            default -> ends.put(words[1], words[0]);
        }
    }

    private void begin(String lock, Kind grant, Way way) {
        ends.remove(lock);
        Thread thread = new Thread(() -> new Task(lock, grant).run(way), lock);
        thread.setDaemon(true);
        thread.start();
    }

    private static String reason(Throwable failure) {
        return failure.getClass().getSimpleName() + ": " + failure.getMessage();
    }

    /** One lease, from the request to its end here. */
    private final class Task {

        private final String lock;
        private final Kind grant;
        private final String hold = PROCESS + "-" + HOLDS.incrementAndGet();

        private Task(String lock, Kind grant) {
            this.lock = lock;
            this.grant = grant;
        }

        private void run(Way way) {
            note(Kind.REQUEST, 0, 0);
            try {
                Lease lease = way.lease();
                note(grant, lease.fencingToken(), validUntil(lease));
                lease.onLost(() -> note(Kind.LOST, lease.fencingToken(), 0));
                System.out.println(TOOK + lease.fencingToken());
                workUnder(lease);
                end(lease);
            } catch (InterruptedException | RuntimeException failure) {
                note(Kind.FAILED, 0, 0);
                System.out.println(NOT_TAKEN + reason(failure));
            }
        }

        private void workUnder(Lease lease) {
            WitnessClient resource = new WitnessClient(witness);
            long token = lease.fencingToken();
            long read = resource.read(lock, token);
            boolean ended = false;
            while (!ended) {
                ended = ends.containsKey(lock);
                long time = System.nanoTime();
                long until = validUntil(lease);
                boolean held = lease.isValid() && until > time;
                log(time, held ? Kind.HELD : Kind.NOT_HELD, token, held ? until : 0);
                if (held) {
                    Pause.of(STEP);
                    long seen = resource.write(lock, token, read);
                    read = seen == WitnessClient.REFUSED ? read : seen;
                } else {
                    Pause.of(STEP.multipliedBy(10));
                }
            }
        }

        private void end(Lease lease) {
            boolean gives = "give".equals(ends.get(lock));
            long token = lease.fencingToken();
            note(gives ? Kind.HANDING_OVER : Kind.RELEASING, token, validUntil(lease));
            try {
                String text = "";
                if (gives) {
                    text = lease.handOver();
                } else {
                    lease.close();
                }
                note(Kind.RELEASED, token, 0);
                System.out.println((gives ? GAVE : RELEASED)
                        + Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8)));
            } catch (RuntimeException failure) {
                note(Kind.RELEASE_FAILED, token, 0);
                System.out.println((gives ? NOT_GIVEN : RELEASED) + reason(failure));
            }
        }

        private long validUntil(Lease lease) {
            long now = System.nanoTime();
            long left = lease.remainingLease().toNanos();
            return left == 0 ? 0 : now + left;
        }

        private void note(Kind kind, long token, long validUntil) {
            log(System.nanoTime(), kind, token, validUntil);
        }

        private void log(long time, Kind kind, long token, long validUntil) {
            System.out.println(new Event(time, name, kind, lock, hold, 1, token, validUntil).toLine());
        }
    }
}
