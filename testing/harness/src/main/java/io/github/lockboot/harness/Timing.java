package io.github.lockboot.harness;

import java.time.Duration;

/**
 * What a contender is set to instead of its library's defaults.
 *
 * @param lease of a hold, which is kept renewed
 * @param commandTimeout how long Redis may take for a command
 */
public record Timing(Duration lease, Duration commandTimeout) {}
