package io.github.lockboot.faults;

import java.time.Duration;
import java.util.List;

import io.github.lockboot.faults.Fault.Harm;
import io.github.lockboot.faults.Fault.Start;

/** What happens to the wall clock of Redis. */
final class ClockFaults {

    static final List<Fault<Standalone>> ALL = List.of(
            Fault.of(
                            "redis-clock-forward",
                            "the clock of Redis steps 60 s forward while the lock is held",
                            Standalone::clocked,
                            scene -> {
                                scene.recoveryFromNow();
                                scene.redis().step(Duration.ofSeconds(60));
                                scene.pass(Terms.TTL);
                            })
                    .from(Start.HELD)
                    .mayHarm(Harm.DATA),
            Fault.of(
                            "redis-clock-back",
                            "the clock of Redis steps 1 h back while the lock is held, and the holder releases a lease later",
                            Standalone::clocked,
                            scene -> {
                                scene.afterwards(() -> scene.redis().step(Duration.ofHours(1)));
                                scene.redis().step(Duration.ofHours(-1));
                                scene.pass(Terms.TTL);
                            })
                    .from(Start.HELD),
            Fault.of(
                            "redis-clock-back-holder-killed",
                            "the clock of Redis steps 1 h back, and SIGKILL to the holder",
                            Standalone::clocked,
                            scene -> {
                                scene.afterwards(() -> scene.redis().step(Duration.ofHours(1)));
                                scene.redis().step(Duration.ofHours(-1));
                                scene.recoveryFromNow();
                                scene.holder().kill();
                            })
                    .from(Start.DOOMED)
                    .mayHarm(Harm.HOLDS)
                    .within(Terms.ONE_LEASE));

    private ClockFaults() {}
}
