package io.github.lockboot.sample.token;

/**
 * @param upstreamCalls how often a token was fetched
 * @param waitersServed calls that waited for another's fetch and got its token
 */
record TokenStats(long upstreamCalls, long waitersServed) {}
