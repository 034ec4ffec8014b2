package io.github.lockboot.engine;

import java.util.List;

import io.github.lockboot.fixture.RedisProbe;
import org.jspecify.annotations.Nullable;

/** Schedules of the simulation that have only what the specification knows, for the specification to judge. */
public final class SpecifiedSchedule {

    /** The seed of the one schedule that is not random. */
    public static final long OLDER_ANSWER = -1;

    private SpecifiedSchedule() {}

    /** {@return what was seen, as {@link SimulationTrace} writes it; also if the simulation found fault with it} */
    public static List<String> trace(long seed) {
        return trace(seed, null);
    }

    /** As {@link #trace(long)}, with the scripts themselves on the Redis at this port. */
    public static List<String> trace(long seed, int port) {
        try (RedisProbe redis = new RedisProbe("127.0.0.1", port)) {
            return trace(seed, new RealScripts(redis));
        }
    }

    private static List<String> trace(long seed, @Nullable RealScripts scripts) {
        if (seed == OLDER_ANSWER) {
            return new OlderAnswerSchedule(scripts).run();
        }
        Simulation schedule = Simulation.specified(seed, scripts);
        try {
            schedule.run();
        } catch (AssertionError found) {
            // to be judged all the same
        }
        return schedule.protocol();
    }
}
