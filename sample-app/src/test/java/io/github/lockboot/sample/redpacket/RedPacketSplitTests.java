package io.github.lockboot.sample.redpacket;

import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

import io.github.lockboot.sample.Money;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

class RedPacketSplitTests {

    @RepeatedTest(500)
    void partsAreAtLeastACentEachAndSumUpExactly(RepetitionInfo repetition) {
        Random random = new Random(repetition.getCurrentRepetition());
        int count = random.nextInt(1, 1_000);
        Money amount = new Money(random.nextLong(count, random.nextBoolean() ? count + 10L : Money.MAX.cents()));
        List<Money> parts = RedPacketService.split(amount, count, random);
        assertThat(parts)
                .hasSize(count)
                .allSatisfy(part -> assertThat(part.cents()).isPositive());
        assertThat(parts.stream().mapToLong(Money::cents).sum()).isEqualTo(amount.cents());
    }

    @Test
    void asManyPartsAsCentsAreACentEachAndASinglePartIsTheWholeAmount() {
        assertThat(RedPacketService.split(new Money(10_000), 10_000, new Random(1)))
                .hasSize(10_000)
                .containsOnly(new Money(1));
        assertThat(RedPacketService.split(Money.MAX, 1, new Random(1))).containsExactly(Money.MAX);
    }

    @Test
    void everyPlaceHasTheSameChances() {
        int count = 5;
        List<List<Money>> splits = IntStream.range(0, 10_000)
                .mapToObj(seed -> RedPacketService.split(new Money(10_000), count, new Random(seed)))
                .toList();
        for (int place = 0; place < count; place++) {
            int here = place;
            double mean = splits.stream()
                    .mapToLong(parts -> parts.get(here).cents())
                    .average()
                    .orElseThrow();
            assertThat(mean).as("mean of place %d", place).isCloseTo(2_000, within(60.0));
        }
    }
}
