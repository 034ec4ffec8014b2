package io.github.lockboot.benchmarks;

import java.util.Arrays;
import java.util.Collection;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * What one process saw in one round, or several together.
 *
 * @param acquisitions all, also those before and after the time that counts
 * @param processorSeconds what the process used of processors meanwhile, for all of them
 */
record Sample(double seconds, long[] turnsOfThreads, long acquisitions, double processorSeconds, Histogram waits) {

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
        Histogram waits = new Histogram();
        samples.forEach(sample -> waits.add(sample.waits));
        return new Sample(
                samples.stream().mapToDouble(Sample::seconds).max().orElseThrow(),
                samples.stream()
                        .flatMapToLong(sample -> LongStream.of(sample.turnsOfThreads))
                        .toArray(),
                samples.stream().mapToLong(Sample::acquisitions).sum(),
                samples.stream().mapToDouble(Sample::processorSeconds).sum(),
                waits);
    }

    String encode() {
        String turns = LongStream.of(turnsOfThreads).mapToObj(Long::toString).collect(Collectors.joining(","));
        return seconds + " " + turns + " " + acquisitions + " " + processorSeconds + " " + waits.encode();
    }

    static Sample parse(String line) {
        String[] words = line.split(" ");
        long[] turns =
                Arrays.stream(words[1].split(",")).mapToLong(Long::parseLong).toArray();
        return new Sample(
                Double.parseDouble(words[0]),
                turns,
                Long.parseLong(words[2]),
                Double.parseDouble(words[3]),
                Histogram.parse(words[4]));
    }
}
