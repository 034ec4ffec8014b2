package io.github.lockboot.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.github.lockboot.LogReader;
import io.github.lockboot.internal.LockOrder.Node;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The graph of one order, without locks. */
class LockOrderTests {

    private final LockOrder order = new LockOrder();
    private final List<String> reported = new ArrayList<>();

    private static Node node(String name) {
        return new Node(null, name, !name.startsWith("shared"));
    }

    private static final class Held extends HeldByThread {

        private final String name;
        private final AtomicInteger looks;

        Held(String name, AtomicInteger looks) {
            this.name = name;
            this.looks = looks;
        }

        @Override
        public RuntimeException findLoss(String reason) {
            return null;
        }

        @Override
        protected Node node() {
            looks.incrementAndGet();
            return LockOrderTests.node(name);
        }
    }

    /** {@return at how many of those held it has looked} */
    private int takeInside(List<String> held, String wanted) {
        AtomicInteger looks = new AtomicInteger();
        List<Held> locks = held.stream().map(name -> new Held(name, looks)).toList();
        locks.forEach(HeldByThread::begin);
        try {
            order.check(node(wanted), (other, here, there) -> reported.add(wanted + " inside " + other.name()));
        } finally {
            locks.forEach(HeldByThread::end);
        }
        return looks.get();
    }

    private int takeInside(String held, String wanted) {
        return takeInside(List.of(held), wanted);
    }

    @Test
    void noMoreThanSoManyEdgesAreKept() {
        takeInside("a", "b");
        for (int i = 0; i < LockOrder.MOST_EDGES; i++) {
            takeInside("held " + i, "wanted");
        }
        takeInside("wanted", "held " + (LockOrder.MOST_EDGES - 1));
        assertThat(reported).as("beyond the limit").isEmpty();
    }

    @Test
    void oneWhoseGraphIsFullLooksAtNothingAndSaysSoOnce() {
        try (LogReader log = new LogReader()) {
            for (int i = 0; i < LockOrder.MOST_EDGES - 1; i++) {
                takeInside("held " + i, "wanted");
            }
            assertThat(takeInside("a", "b")).isEqualTo(1);
            for (int i = 0; i < 10; i++) {
                assertThat(takeInside("held " + i, "another")).isZero();
            }
            assertThat(log.messages())
                    .singleElement()
                    .asString()
                    .startsWith("The order of locks is no longer checked, because 1000 pairs are recorded: ");
        }
    }

    @Test
    void ofManyThatAreHeldTheNewestAreLookedAt() {
        List<String> many = IntStream.range(0, 1_000).mapToObj(i -> "held " + i).toList();
        assertThat(takeInside(many, "wanted")).isEqualTo(LockOrder.MOST_HELD);
        takeInside("wanted", "held " + (999 - LockOrder.MOST_HELD));
        assertThat(reported).as("older").isEmpty();
        takeInside("wanted", "held " + (1_000 - LockOrder.MOST_HELD));
        takeInside("wanted", "held 999");
        assertThat(reported).hasSize(2);
    }

    /** The second thread waits for the gate while it has neither. */
    @Test
    void bothOrdersUnderOneLockThatIsHeldAloneAreNoConflict() {
        takeInside(List.of("gate", "a"), "b");
        takeInside(List.of("gate", "b"), "a");
        takeInside(List.of("another", "gate", "b"), "a");
        assertThat(reported).isEmpty();
        takeInside("b", "a");
        takeInside("b", "a");
        assertThat(reported).containsExactly("a inside b");
    }

    @Test
    void anotherGateForEachOrderOrOneThatIsSharedIsNone() {
        takeInside(List.of("gate", "a"), "b");
        takeInside(List.of("another", "b"), "a");
        takeInside(List.of("shared", "c"), "d");
        takeInside(List.of("shared", "d"), "c");
        assertThat(reported).containsExactly("a inside b", "c inside d");
    }

    @Test
    void aPairIsReportedOnceHoweverOftenItIsTaken() {
        for (int i = 0; i < 3; i++) {
            takeInside("a", "b");
            takeInside("b", "a");
        }
        assertThat(reported).containsExactly("a inside b");
    }
}
