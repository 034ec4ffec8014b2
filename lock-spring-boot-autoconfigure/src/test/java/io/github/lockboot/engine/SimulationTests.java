package io.github.lockboot.engine;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/**
 * The real engine through thousands of schedules of delays, repeats, losses, cuts, pauses and crashes, in one thread on
 * simulated time. A failure names its seed, and {@code -Dlock.simulation.seed} replays that one.
 * {@code -Dlock.simulation.schedules} runs more than the usual ones, with {@code -Pfull}.
 */
@Tag("not-for-mutants")
class SimulationTests {

    private static final @Nullable Long ONLY_SEED = Long.getLong("lock.simulation.seed");
    private static final int FEW = 300;
    private static final int SCHEDULES = Integer.getInteger("lock.simulation.schedules", 3_000);
    private static final int SCHEDULES_WITH_A_FLAW = 300;
    private static final int LINES = 300;

    private final Map<String, Integer> seen = new TreeMap<>();
    private final Logger log = (Logger) LoggerFactory.getLogger("io.github.lockboot");
    private final ListAppender<ILoggingEvent> disorder = new ListAppender<>();

    @BeforeEach
    void listen() {
        disorder.start();
        log.addAppender(disorder);
    }

    @AfterEach
    void listenNoMore() {
        log.detachAppender(disorder);
    }

    @Test
    void whateverHappensAtMostOneHoldsAndNobodyIsForgotten() {
        if (ONLY_SEED == null) {
            run(0, FEW);
        } else {
            run(ONLY_SEED, ONLY_SEED + 1);
        }
    }

    @Test
    @Tag("full")
    void whateverHappensInThousandsOfSchedulesAtMostOneHoldsAndNobodyIsForgotten() {
        run(FEW, SCHEDULES);
        assertThat(seen)
                .as("what the schedules reach")
                .containsKeys("acquired exclusively", "acquired as a reader", "acquired by a permit", "downgraded")
                .containsKeys("acquired with others", "lingered", "kept", "handed over", "taken over")
                .containsKeys("passed over", "lost", "mishap", "stopped", "stranger")
                .containsKeys("slept", "time of day set", "deleted", "change announced")
                .containsKeys("LockNotAcquiredException", "LockUnavailableException", "CancellationException");
    }

    private void run(long first, long last) {
        for (long seed = first; seed < last; seed++) {
            AssertionError failure = failureOf(new Simulation(seed, false, null, seen));
            if (failure != null) {
                replay(seed, failure);
            }
        }
        assertThat(disorder.list).as("errors logged").isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void whatIsWrongIsReported(SimulatedRedis.Flaw flaw) {
        for (long seed = 0; seed < SCHEDULES_WITH_A_FLAW; seed++) {
            if (failureOf(new Simulation(seed, false, flaw, seen)) != null) {
                return;
            }
        }
        fail("nothing noticed that " + flaw);
    }

    @Test
    void aSeedRepeatsExactly() {
        Simulation once = new Simulation(7, true, null, seen);
        Simulation again = new Simulation(7, true, null, seen);
        once.run();
        again.run();
        assertThat(once.trace()).isNotEmpty().isEqualTo(again.trace());
    }

    private void replay(long seed, AssertionError failure) {
        Simulation again = new Simulation(seed, true, null, seen);
        failureOf(again);
        List<String> trace = again.trace();
        List<String> end = trace.subList(Math.max(0, trace.size() - LINES), trace.size());
        throw new AssertionError(
                "-Dlock.simulation.seed=" + seed + "\n" + String.join("\n", end) + "\n" + failure.getMessage(),
                failure);
    }

    private static @Nullable AssertionError failureOf(Simulation simulation) {
        try {
            simulation.run();
            return null;
        } catch (AssertionError failure) {
            return failure;
        }
    }
}
