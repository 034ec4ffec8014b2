package io.github.lockboot.sample.redpacket;

import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

import io.github.lockboot.sample.Money;

/** Splits an amount into random parts. */
final class RedPacketSplit {

    private RedPacketSplit() {}

    /**
     * Gives every part one cent and cuts the rest, laid out as a line, at random points. So the parts sum up exactly, none
     * is empty, and each has the same chances whatever its place.
     *
     * @param count from 1 to the number of cents in the amount
     */
    static List<Money> split(Money amount, int count, RandomGenerator random) {
        long rest = amount.cents() - count;
        long[] points = new long[count + 1];
        Arrays.setAll(points, i -> i == count ? rest : i == 0 ? 0 : random.nextLong(rest + 1));
        Arrays.sort(points);
        return IntStream.range(0, count)
                .mapToObj(i -> new Money(1 + points[i + 1] - points[i]))
                .toList();
    }
}
