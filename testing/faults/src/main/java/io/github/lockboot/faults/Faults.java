package io.github.lockboot.faults;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** The catalogue, in the order of the table. */
final class Faults {

    /** How long after each other waiters queue where their order is judged. */
    static final Duration APART = Duration.ofMillis(200);

    /** Those of one server that any processes on it can suffer. */
    static final List<Fault<Standalone>> STANDALONE = Stream.of(
                    ProcessFaults.ALL,
                    NetworkFaults.ALL,
                    ReplyFaults.ALL,
                    ServerFaults.ALL,
                    RightsFaults.ALL,
                    DataFaults.ALL,
                    ClockFaults.ALL)
            .flatMap(List::stream)
            .toList();

    static final List<Fault<?>> ALL = Stream.of(
                    STANDALONE, PasswordFaults.ALL, FailoverFaults.SENTINEL, FailoverFaults.CLUSTER)
            .<Fault<?>>flatMap(List::stream)
            .toList();

    private Faults() {}

    static Fault<?> named(String name) {
        return ALL.stream()
                .filter(fault -> fault.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no fault is called " + name));
    }
}
