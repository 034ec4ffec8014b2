package io.github.lockboot.benchmarks;

import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import org.HdrHistogram.Histogram;

/**
 * What one round showed of one contender. Times are in microseconds; commands, messages and processor time are per
 * acquisition.
 *
 * @param longestHold of the readers that a writer waited for; else 0
 * @param commands those that clients sent: scripts, subscriptions and the contender's own commands, not what scripts
 *     ran
 * @param messages how often something was published
 * @param client processor time of the contender's processes
 * @param redis processor time of Redis
 */
record Measurement(
        double turnsPerSecond,
        double median,
        double p99,
        double longest,
        double longestHold,
        double fairness,
        double commands,
        double messages,
        double client,
        double redis) {

    private static final Set<String> CLIENT_COMMANDS = Set.of(
            "eval", "evalsha", "subscribe", "unsubscribe", "psubscribe", "punsubscribe", "ssubscribe", "sunsubscribe");

    static Measurement of(Sample sample, Map<String, Long> calls, Set<String> ownCommands, double redisSeconds) {
        Histogram waits = sample.waits();
        double acquisitions = sample.acquisitions();
        long commands = Stream.concat(CLIENT_COMMANDS.stream(), ownCommands.stream())
                .mapToLong(command -> calls.getOrDefault(command, 0L))
                .sum();
        long messages = calls.getOrDefault("publish", 0L) + calls.getOrDefault("spublish", 0L);
        return new Measurement(
                sample.turnsPerSecond(),
                waits.getValueAtPercentile(50) / 1e3,
                waits.getValueAtPercentile(99) / 1e3,
                waits.getMaxValue() / 1e3,
                sample.longestHoldNanos() / 1e3,
                sample.fairness(),
                commands / acquisitions,
                messages / acquisitions,
                sample.processorSeconds() * 1e6 / acquisitions,
                redisSeconds * 1e6 / acquisitions);
    }

    /** By how many milliseconds the p99 of waiting exceeds twice the longest hold. */
    double excess() {
        return Math.max(0, p99 - 2 * longestHold) / 1e3;
    }
}
