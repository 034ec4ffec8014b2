package io.github.lockboot.redis.connection;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LinesTests {

    private static final int MANY = 20_000;

    private final Lines<Counting, Counting> lines = new Lines<>();
    private long comparisons;

    /** A key, or one who waits, that counts how often it is looked at. */
    private final class Counting {

        private final int number;

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

    @Test
    void whoWaitsForOthersInOtherLinesCostsNothing() {
        assertThatNobodyIsLookedFor(number -> number);
    }

    @Test
    void whoWaitsForOthersInTheSameLineCostsNothing() {
        assertThatNobodyIsLookedFor(number -> 0);
    }

    private void assertThatNobodyIsLookedFor(IntUnaryOperator keyOf) {
        List<Counting> all = IntStream.range(0, MANY).mapToObj(Counting::new).toList();
        all.forEach(each -> lines.append(new Counting(keyOf.applyAsInt(each.number)), each));
        assertThat(comparisons).as("to wait").isLessThan(20L * MANY);

        comparisons = 0;
        assertThat(lines.isAnyoneIn(new Counting(-1))).isFalse();
        assertThat(lines.first(new Counting(keyOf.applyAsInt(0)))).isSameAs(all.get(0));
        assertThat(comparisons).as("to pass those who wait").isLessThan(20);

        comparisons = 0;
        for (int i = MANY - 1; i >= 0; i--) {
            lines.remove(new Counting(keyOf.applyAsInt(i)), all.get(i));
        }
        assertThat(comparisons).as("to leave from the end").isLessThan(20L * MANY);
        assertThat(lines.isEmpty()).isTrue();
    }

    @Test
    void eachLineIsInOrderAndEndsWithItsLast() {
        Counting key = new Counting(1);
        List<Counting> three = List.of(new Counting(1), new Counting(2), new Counting(3));
        three.forEach(each -> lines.append(key, each));
        lines.append(new Counting(2), new Counting(4));
        assertThat(lines.all()).hasSize(4);
        lines.remove(key, three.get(1));
        List<Counting> served = new ArrayList<>();
        for (Counting first = lines.first(key); first != null; first = lines.first(key)) {
            served.add(first);
            assertThat(lines.isAnyoneIn(key)).isTrue();
            lines.remove(key, first);
        }
        assertThat(served).containsExactly(three.get(0), three.get(2));
        assertThat(lines.isAnyoneIn(key)).isFalse();
        assertThat(lines.keys()).hasSize(1);
    }
}
