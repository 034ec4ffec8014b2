package io.github.lockboot.faults;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import io.github.lockboot.faults.Fault.Harm;
import io.github.lockboot.faults.Fault.Start;
import io.github.lockboot.fixture.RedisProbe;

/** What happens to a Redis server that keeps its data. */
final class ServerFaults {

    private static final Duration AWHILE = Duration.ofSeconds(2);

    /** For how long Redis crashes again and again. */
    private static final Duration LOOP = Duration.ofSeconds(60);

    /** Long enough to be connected to and subscribed on, and too short for much else. */
    static final Duration UP = Duration.ofMillis(700);

    /** What a process may log meanwhile: that holds are lost, that it cannot connect, and that it can again. */
    private static final long LOG = 200_000;

    static final List<Fault<Standalone>> ALL = List.of(
            Fault.of(
                            "redis-killed-durable",
                            "SIGKILL to Redis with appendfsync always, 1 s without it, restart",
                            Standalone::durable,
                            scene -> killAndRestart(
                                    scene, redis -> redis.server().kill()))
                    .mayHarm(Harm.HOLDS)
                    .within(Terms.ONE_LEASE),
            Fault.of(
                            "redis-crash-loop",
                            "for 60 s Redis, with appendfsync always, runs for 0.7 s, is killed, and is away for up to 6 s; a process may"
                                    + " log 200 KB",
                            Standalone::durable,
                            ServerFaults::crashAgainAndAgain)
                    .mayHarm(Harm.HOLDS)
                    .within(Terms.ONE_LEASE)
                    .rarely(7),
            Fault.of("redis-stopped-briefly", "SIGSTOP to Redis for 2 s", Standalone::inMemory, scene -> {
                        scene.redis().server().pause();
                        scene.pass(AWHILE);
                        scene.redis().server().resume();
                    })
                    .mayHarm(Harm.HOLDS)
                    .within(Terms.ONE_LEASE),
            Fault.of("redis-stopped-long", "SIGSTOP to Redis for two leases", Standalone::inMemory, scene -> {
                        scene.redis().server().pause();
                        scene.pass(Terms.TTL.multipliedBy(2));
                        scene.redis().server().resume();
                    })
                    .from(Start.HELD)
                    .mayHarm(Harm.HOLDS)
                    .within(Terms.ONE_LEASE),
            Fault.of(
                            "debug-sleep",
                            "DEBUG SLEEP 2",
                            Standalone::debuggable,
                            scene -> scene.redis().command("DEBUG", "SLEEP", "2"))
                    .mayHarm(Harm.HOLDS)
                    .within(Terms.ONE_LEASE),
            Fault.of(
                            "busy-script",
                            "a script that loops for 2 s, BUSY after 100 ms",
                            Standalone::inMemory,
                            ServerFaults::loop)
                    .mayHarm(Harm.HOLDS)
                    .within(Terms.ONE_LEASE),
            Fault.of("client-pause", "CLIENT PAUSE 2000", Standalone::inMemory, scene -> {
                        scene.redis().command("CLIENT", "PAUSE", "2000");
                        scene.pass(AWHILE);
                    })
                    .mayHarm(Harm.HOLDS)
                    .within(Terms.ONE_LEASE),
            Fault.of("script-flush", "SCRIPT FLUSH every 20 ms for 3 s", Standalone::inMemory, scene -> {
                for (int i = 0; i < 150; i++) {
                    scene.redis().command("SCRIPT", "FLUSH");
                    scene.pass(Duration.ofMillis(20));
                }
            }),
            Fault.of(
                            "out-of-memory",
                            "maxmemory is reached for one and a half leases and the holder then releases; noeviction",
                            Standalone::inMemory,
                            ServerFaults::runOutOfMemory)
                    .from(Start.HELD));

    private ServerFaults() {}

    static void killAndRestart(Scene<Standalone> scene, Consumer<Standalone> killing) {
        killing.accept(scene.redis());
        scene.pass(Duration.ofSeconds(1));
        scene.redis().server().restart();
    }

    private static void crashAgainAndAgain(Scene<Standalone> scene) {
        scene.requireLogAtMost(LOG);
        scene.couldNotGrant(LOOP);
        long end = System.nanoTime() + LOOP.toNanos();
        while (System.nanoTime() - end < 0) {
            scene.redis().server().kill();
            scene.pass(scene.between(AWHILE, AWHILE.multipliedBy(3)));
            scene.redis().server().restart();
            scene.pass(UP);
        }
    }

    private static void loop(Scene<Standalone> scene) throws InterruptedException {
        scene.redis().command("CONFIG", "SET", "lua-time-limit", "100");
        Thread looping = new Thread(
                () -> {
                    try {
                        scene.redis().command("EVAL", "while true do end", "0");
                    } catch (RedisProbe.ErrorReply killed) {
                        // As meant.
                    }
                },
                "looping-script");
        looping.start();
        scene.pass(AWHILE);
        scene.redis().command("SCRIPT", "KILL");
        looping.join();
    }

    /** Renewals and the release have to work, which the judge sees from the log. */
    private static void runOutOfMemory(Scene<Standalone> scene) {
        scene.redis().command("CONFIG", "SET", "maxmemory", "1");
        try {
            scene.pass(Terms.TTL.multipliedBy(3).dividedBy(2));
            scene.release();
            scene.awaitReleased();
        } finally {
            scene.redis().command("CONFIG", "SET", "maxmemory", "0");
        }
        scene.recoveryFromNow();
    }
}
