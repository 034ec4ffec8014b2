package io.github.lockboot.redis.connection;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LinesTests {

    private static final int MANY = 20_000;

    private final Lines<Counting, One> lines = new Lines<>(One::key);
    private long comparisons;

    /** Counts how often it is compared. */
    private class Counting {

        final int number;

        Counting(int number) {
            this.number = number;
        }

        @Override
        public boolean equals(Object other) {
            comparisons++;
            return other instanceof Counting counting && counting.number == number;
        }

        @Override
        public int hashCode() {
            comparisons++;
            return number;
        }
    }

    private final class One extends Counting {

        private final int key;

        One(int number, int key) {
            super(number);
            this.key = key;
        }

        Counting key() {
            return new Counting(key);
        }
    }

    private List<One> append(One... ones) {
        List.of(ones).forEach(lines::append);
        return List.of(ones);
    }

    @Test
    void othersInOtherLinesCostNothing() {
        assertThatOthersCostNothing(number -> number);
    }

    @Test
    void othersInTheSameLineCostNothing() {
        assertThatOthersCostNothing(number -> 0);
    }

    private void assertThatOthersCostNothing(IntUnaryOperator keyOf) {
        List<One> all = IntStream.range(0, MANY)
                .mapToObj(i -> new One(i, keyOf.applyAsInt(i)))
                .toList();
        all.forEach(lines::append);
        assertThat(comparisons).as("to join").isLessThan(20L * MANY);

        comparisons = 0;
        assertThat(lines.isAnyoneBefore(new One(-1, -1))).isFalse();
        assertThat(lines.next(new Counting(keyOf.applyAsInt(0)))).isSameAs(all.get(0));
        assertThat(comparisons).as("to pass").isLessThan(20);

        comparisons = 0;
        for (int i = MANY - 1; i >= 0; i--) {
            lines.remove(all.get(i));
        }
        assertThat(comparisons).as("to leave from the end").isLessThan(20L * MANY);
        assertThat(lines.isEmpty()).isTrue();
    }

    @Test
    void eachLineIsInOrderAndEndsWithItsLast() {
        List<One> all = append(new One(1, 7), new One(2, 7), new One(3, 7), new One(4, 8));
        assertThat(lines.all()).hasSize(4);
        lines.remove(all.get(1));
        assertThat(served(7)).containsExactly(all.get(0), all.get(2));
        assertThat(lines.isAnyoneBefore(new One(5, 7))).isFalse();
        assertThat(lines.isAnyoneBefore(new One(5, 8))).isTrue();
        assertThat(lines.keys()).hasSize(1);
    }

    private List<One> served(int key) {
        List<One> served = new ArrayList<>();
        for (One next = lines.next(new Counting(key)); next != null; next = lines.next(new Counting(key))) {
            served.add(next);
            lines.remove(next);
        }
        return served;
    }
}
