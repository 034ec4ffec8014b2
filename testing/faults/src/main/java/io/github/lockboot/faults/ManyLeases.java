package io.github.lockboot.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.redis.RedisLockRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * One run of one {@link LeasesFault}: instances that hold many leases and do nothing with them, and one more thread
 * that takes and releases another lock all the while. The leases are taken evenly over a third of their time, so their
 * renewals are even, too.
 */
final class ManyLeases implements AutoCloseable {

    private static final Duration TICK = Duration.ofMillis(20);
    private static final Duration AWAY = Duration.ofMillis(60);
    private static final int AT_ONCE = 200;
    private static final String SET_OTHERS = "for i = 1, 5000 do redis.call('SET', 'other:' .. i, i) end";
    private static final String UNLINK_OTHERS = "for i = 1, 5000 do redis.call('UNLINK', 'other:' .. i) end";
    private static final String ANOTHER_DATABASE = "5";

    /**
     * How long after the grant a lease has been renewed for the first time, which is not in the round of the others.
     */
    private static final Duration WATCHED = Duration.ofMillis(1_500);

    private record Instance(LettuceConnectionFactory factory, RedisLockRegistry registry) {

        void close() {
            registry.close();
            factory.destroy();
        }
    }

    private final LeasesFault fault;
    private final Standalone redis = Standalone.inMemory();
    private final List<Instance> instances = new ArrayList<>();
    private final List<Lease> leases = new ArrayList<>();
    private final AtomicInteger lost = new AtomicInteger();
    private final Thread bystander = new Thread(this::standBy, "bystander");
    private @Nullable Throttle throttle;
    private volatile boolean ending;
    private long lastUse;
    private long longestStall;

    private ManyLeases(LeasesFault fault) {
        this.fault = fault;
    }

    /** @throws IllegalStateException if leases are lost before anything happens, because the machine is too busy */
    static LeasesResult run(LeasesFault fault) {
        try (ManyLeases scene = new ManyLeases(fault)) {
            return scene.run();
        }
    }

    // --- what a fault may use ---------------------------------------------------------------------------------

    void cut() {
        redis.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
        redis.command("CLIENT", "KILL", "TYPE", "pubsub");
    }

    void refuse() {
        IntStream.range(0, fault.instances()).forEach(each -> redis.proxy(each).refuse());
        Pause.of(AWAY);
        IntStream.range(0, fault.instances()).forEach(each -> redis.proxy(each).pass());
    }

    void flushAnother() {
        try (RedisProbe probe = redis.server().probe()) {
            probe.command("SELECT", ANOTHER_DATABASE);
            probe.command("FLUSHDB");
        }
    }

    void deleteOthers() {
        redis.command("EVAL", UNLINK_OTHERS, "0");
    }

    // --- the run ----------------------------------------------------------------------------------------------

    private LeasesResult run() {
        redis.command("EVAL", SET_OTHERS, "0");
        connect();
        acquire();
        bystander.start();
        long answered = answered();
        long began = System.nanoTime();
        long before = renewals();
        if (fault.load() > 0) {
            double rate = (double) (answered() - answered) / (System.nanoTime() - began);
            throttle = new Throttle(redis.server(), this::answered, rate / fault.load());
            before = renewals();
        }
        if (lost.get() > 0) {
            throw new IllegalStateException(lost + " leases were lost before anything happened");
        }
        forgetStalls();
        fault.way().into(this);
        long after = renewals();
        watch();
        return new LeasesResult(fault.name(), before, after, invalid(), longestStall() / 1_000_000);
    }

    private void connect() {
        for (int i = 0; i < fault.instances(); i++) {
            LettuceConnectionFactory factory = redis.address(i).forSpring();
            RedisLockRegistry registry = RedisLockRegistry.builder(factory)
                    .defaults(LockOptions.defaults().withTtl(fault.ttl()))
                    .build();
            instances.add(new Instance(factory, registry));
            Await.until(
                    "it is connected",
                    () -> registry.connect()
                            .handle((none, failure) -> failure == null)
                            .join());
        }
    }

    /** Evenly over a round, but never more at once than a machine that does other things, too, can do soon. */
    private void acquire() {
        double perNano = (double) fault.leases() / round().toNanos();
        long began = System.nanoTime();
        while (leases.size() < fault.leases()) {
            int due = (int) Math.min(fault.leases(), perNano * (System.nanoTime() - began));
            List<CompletableFuture<Lease>> some = IntStream.range(leases.size(), Math.min(due, leases.size() + AT_ONCE))
                    .mapToObj(number ->
                            instances.get(number % instances.size()).registry().acquireAsync("lease-" + number))
                    .toList();
            some.forEach(one -> leases.add(one.join()));
            if (leases.size() >= due) {
                Pause.of(TICK);
            }
        }
        leases.forEach(lease -> lease.onLost(lost::incrementAndGet));
        Pause.of(WATCHED);
    }

    /** The bytes that Redis has answered to all instances. */
    private long answered() {
        return IntStream.range(0, fault.instances())
                .mapToLong(each -> redis.proxy(each).replyBytes())
                .sum();
    }

    /** In which each lease is renewed once. */
    private Duration round() {
        return fault.ttl().dividedBy(3);
    }

    /** Those that Redis does in a second, seen for a round. */
    private long renewals() {
        long time = System.nanoTime();
        long calls = calls();
        Pause.of(round());
        return Math.round((calls() - calls) * 1e9 / (System.nanoTime() - time));
    }

    private long calls() {
        try (RedisProbe probe = redis.server().probe()) {
            return probe.commandCalls().getOrDefault("evalsha", 0L);
        }
    }

    /** Until every lease that was not renewed since the first round is over, or all are lost. */
    private void watch() {
        long end = System.nanoTime() + fault.ttl().toNanos();
        while (System.nanoTime() - end < 0 && lost.get() < fault.leases()) {
            Pause.of(TICK);
        }
    }

    private int invalid() {
        return (int) leases.stream().filter(lease -> !lease.isValid()).count();
    }

    private void standBy() {
        NamedLock lock = instances.get(0).registry().get("another");
        while (!ending) {
            try {
                lock.lock();
                lock.unlock();
                used();
            } catch (RuntimeException unavailable) {
                // It stalls.
            }
            Pause.of(TICK);
        }
    }

    private synchronized void used() {
        longestStall();
        lastUse = System.nanoTime();
    }

    private synchronized void forgetStalls() {
        lastUse = System.nanoTime();
        longestStall = 0;
    }

    /** The longest time since then in which the other lock was not used. */
    private synchronized long longestStall() {
        longestStall = Math.max(longestStall, System.nanoTime() - lastUse);
        return longestStall;
    }

    @Override
    public void close() {
        ending = true;
        if (throttle != null) {
            throttle.close();
        }
        Await.until("the bystander has ended", () -> !bystander.isAlive());
        instances.forEach(Instance::close);
        redis.close();
    }
}
