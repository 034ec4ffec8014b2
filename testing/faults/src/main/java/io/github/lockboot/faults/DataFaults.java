package io.github.lockboot.faults;

import java.time.Duration;
import java.util.List;

import io.github.lockboot.faults.Fault.Harm;
import io.github.lockboot.faults.Fault.Start;

/** What happens to the data in Redis: what was granted is forgotten, or somebody meddles with the key. */
final class DataFaults {

    static final List<Fault<Standalone>> ALL = List.of(
            Fault.of(
                            "redis-killed-empty",
                            "SIGKILL to Redis without persistence, 1 s without it, restart",
                            Standalone::inMemory,
                            scene -> ServerFaults.killAndRestart(scene, Standalone::killWithItsData))
                    .from(Start.HELD)
                    .mayHarm(Harm.DATA)
                    .within(Terms.ONE_LEASE),
            Fault.of(
                            "flushall",
                            "FLUSHALL while the lock is held",
                            Standalone::inMemory,
                            scene -> forget(scene, () -> scene.redis().command("FLUSHALL")))
                    .from(Start.HELD)
                    .mayHarm(Harm.DATA),
            Fault.of(
                            "key-deleted",
                            "DEL of the key while the lock is held",
                            Standalone::inMemory,
                            scene -> forget(scene, () -> delete(scene)))
                    .from(Start.HELD)
                    .mayHarm(Harm.DATA),
            Fault.of(
                            "key-renamed",
                            "RENAME of the key while the lock is held",
                            Standalone::inMemory,
                            scene -> forget(
                                    scene,
                                    () -> scene.keys()
                                            .forEach(key -> scene.redis().command("RENAME", key, key + "-renamed"))))
                    .from(Start.HELD)
                    .mayHarm(Harm.DATA),
            Fault.of(
                            "key-replaced",
                            "somebody else's SET of the key for 2 s while the lock is held; counted from its end",
                            Standalone::inMemory,
                            scene -> {
                                scene.keys()
                                        .forEach(key ->
                                                scene.redis().command("SET", key, "somebody else's", "PX", "2000"));
                                scene.pass(Duration.ofSeconds(2));
                                scene.recoveryFromNow();
                                scene.release();
                            })
                    .from(Start.HELD)
                    .mayHarm(Harm.DATA),
            Fault.of(
                            "key-persisted",
                            "PERSIST of the key while the lock is held, and SIGKILL to the holder",
                            Standalone::inMemory,
                            scene -> {
                                scene.permitUnboundedKeys();
                                scene.afterwards(() -> delete(scene));
                                scene.recoveryFromNow();
                                scene.keys().forEach(key -> scene.redis().command("PERSIST", key));
                                scene.holder().kill();
                            })
                    .from(Start.DOOMED)
                    .mayHarm(Harm.HOLDS)
                    .within(Terms.ONE_LEASE));

    private DataFaults() {}

    private static void delete(Scene<Standalone> scene) {
        scene.keys().forEach(key -> scene.redis().command("DEL", key));
    }

    /** The holder goes on meanwhile, for as long as it believes. */
    private static void forget(Scene<Standalone> scene, Runnable harm) {
        scene.recoveryFromNow();
        harm.run();
        scene.pass(Terms.TTL);
    }
}
