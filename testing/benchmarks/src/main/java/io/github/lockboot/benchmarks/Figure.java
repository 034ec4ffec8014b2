package io.github.lockboot.benchmarks;

import java.util.Arrays;
import java.util.Locale;
import java.util.function.DoublePredicate;

/**
 * One figure of all rounds.
 *
 * @param sorted of each round, ascending; at least one
 */
record Figure(double[] sorted) {

    static Figure of(double[] rounds) {
        double[] sorted = rounds.clone();
        Arrays.sort(sorted);
        return new Figure(sorted);
    }

    double median() {
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    double max() {
        return sorted[sorted.length - 1];
    }

    /** In how many rounds. */
    long count(DoublePredicate what) {
        return Arrays.stream(sorted).filter(what).count();
    }

    /** The lowest and the highest. */
    String range() {
        return number(sorted[0]) + "–" + number(max());
    }

    /** The median, and how far the rounds are apart if that can be seen. */
    @Override
    public String toString() {
        String median = number(median());
        return number(sorted[0]).equals(number(max())) ? median : median + "<br>" + range();
    }

    /** Three digits that count, or a whole number. */
    static String number(double value) {
        String pattern = value >= 100 ? "%,.0f" : value >= 10 ? "%.1f" : value >= 0.1 ? "%.2f" : "%.4f";
        return String.format(Locale.ROOT, value == 0 ? "%.0f" : pattern, value);
    }
}
