package io.github.lockboot.benchmarks;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.zip.DataFormatException;

import org.HdrHistogram.Histogram;

/**
 * What one process saw in one round, or several together.
 *
 * @param acquisitions all, also those before and after the time that counts
 * @param processorSeconds what the process used of processors meanwhile, for all of them
 * @param longestHoldNanos of a reader whose waiting does not count; else 0
 */
record Sample(
        double seconds,
        long[] turnsOfThreads,
        long acquisitions,
        double processorSeconds,
        long longestHoldNanos,
        Histogram waits) {

    private static final long LONGEST_NANOS = TimeUnit.HOURS.toNanos(1);

    double turnsPerSecond() {
        return turns() / seconds;
    }

    long turns() {
        return LongStream.of(turnsOfThreads).sum();
    }

    /** Jain's index of fairness over the threads: 1 if all had as many turns, 1/n if one of n had them all. */
    double fairness() {
        double sum = turns();
        double squares = LongStream.of(turnsOfThreads)
                .mapToDouble(turns -> (double) turns * turns)
                .sum();
        return sum == 0 ? 0 : sum * sum / (turnsOfThreads.length * squares);
    }

    static Sample together(Collection<Sample> samples) {
        Histogram waits = noWaits();
        samples.forEach(sample -> waits.add(sample.waits));
        return new Sample(
                samples.stream().mapToDouble(Sample::seconds).max().orElseThrow(),
                samples.stream()
                        .flatMapToLong(sample -> LongStream.of(sample.turnsOfThreads))
                        .toArray(),
                samples.stream().mapToLong(Sample::acquisitions).sum(),
                samples.stream().mapToDouble(Sample::processorSeconds).sum(),
                samples.stream().mapToLong(Sample::longestHoldNanos).max().orElseThrow(),
                waits);
    }

    /** To be filled with times in nanoseconds, exact to about 6 percent. */
    static Histogram noWaits() {
        return new Histogram(LONGEST_NANOS, 1);
    }

    String encode() {
        String turns = LongStream.of(turnsOfThreads).mapToObj(Long::toString).collect(Collectors.joining(","));
        ByteBuffer encoded = ByteBuffer.allocate(waits.getNeededByteBufferCapacity());
        int length = waits.encodeIntoCompressedByteBuffer(encoded);
        return seconds + " " + turns + " " + acquisitions + " " + processorSeconds + " " + longestHoldNanos + " "
                + Base64.getEncoder().encodeToString(Arrays.copyOf(encoded.array(), length));
    }

    static Sample parse(String line) {
        String[] words = line.split(" ");
        long[] turns =
                Arrays.stream(words[1].split(",")).mapToLong(Long::parseLong).toArray();
        try {
            return new Sample(
                    Double.parseDouble(words[0]),
                    turns,
                    Long.parseLong(words[2]),
                    Double.parseDouble(words[3]),
                    Long.parseLong(words[4]),
                    Histogram.fromString(words[5]));
        } catch (DataFormatException e) {
            throw new IllegalArgumentException(line, e);
        }
    }
}
