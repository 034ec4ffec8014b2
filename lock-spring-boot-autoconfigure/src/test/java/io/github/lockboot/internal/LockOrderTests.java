package io.github.lockboot.internal;

import java.util.ArrayList;
import java.util.List;

import io.github.lockboot.internal.LockOrder.Node;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The graph of one order, without locks. */
class LockOrderTests {

    private final LockOrder order = new LockOrder();
    private final List<String> reported = new ArrayList<>();

    private static Node node(String name) {
        return new Node(null, name);
    }

    private void takeInside(String held, String wanted) {
        HeldByThread lock = new HeldByThread() {
            @Override
            public RuntimeException findLoss(String reason) {
                return null;
            }

            @Override
            protected Node node() {
                return LockOrderTests.node(held);
            }
        };
        lock.begin();
        try {
            order.check(node(wanted), (other, here, there) -> reported.add(wanted + " inside " + other.name()));
        } finally {
            lock.end();
        }
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
    void aPairIsReportedOnceHoweverOftenItIsTaken() {
        for (int i = 0; i < 3; i++) {
            takeInside("a", "b");
            takeInside("b", "a");
        }
        assertThat(reported).containsExactly("a inside b");
    }
}
