package io.github.lockboot.benchmarks;

import java.util.StringJoiner;

/** Counts times in nanoseconds, in 16 steps per power of two: exact to about 6 percent. */
final class Histogram {

    private static final int STEP_BITS = 4;
    private static final int STEPS = 1 << STEP_BITS;

    private final long[] counts = new long[(Long.SIZE - STEP_BITS) * STEPS];
    private long total;
    private long max;

    void record(long nanos) {
        counts[indexOf(nanos)]++;
        total++;
        max = Math.max(max, nanos);
    }

    void add(Histogram other) {
        for (int i = 0; i < counts.length; i++) {
            counts[i] += other.counts[i];
        }
        total += other.total;
        max = Math.max(max, other.max);
    }

    long max() {
        return max;
    }

    /** The time that this part of all took at most, 0.5 for the median. */
    long percentile(double part) {
        long rank = (long) Math.ceil(part * total);
        for (int i = 0; i < counts.length; i++) {
            rank -= counts[i];
            if (rank <= 0) {
                return Math.min(upperEndOf(i), max);
            }
        }
        return max;
    }

    String encode() {
        StringJoiner text = new StringJoiner(",").add(Long.toString(max));
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] > 0) {
                text.add(i + ":" + counts[i]);
            }
        }
        return text.toString();
    }

    static Histogram parse(String text) {
        Histogram histogram = new Histogram();
        String[] parts = text.split(",");
        histogram.max = Long.parseLong(parts[0]);
        for (int i = 1; i < parts.length; i++) {
            String[] bucket = parts[i].split(":");
            long count = Long.parseLong(bucket[1]);
            histogram.counts[Integer.parseInt(bucket[0])] = count;
            histogram.total += count;
        }
        return histogram;
    }

    private static int indexOf(long nanos) {
        if (nanos < STEPS) {
            return (int) Math.max(nanos, 0);
        }
        int shift = Long.SIZE - 1 - Long.numberOfLeadingZeros(nanos) - STEP_BITS;
        return (shift << STEP_BITS) + (int) (nanos >>> shift);
    }

    private static long upperEndOf(int index) {
        if (index < 2 * STEPS) {
            return index;
        }
        int shift = (index >> STEP_BITS) - 1;
        return (((long) (index & STEPS - 1) + STEPS + 1) << shift) - 1;
    }
}
