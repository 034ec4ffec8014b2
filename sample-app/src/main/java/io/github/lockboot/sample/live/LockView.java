package io.github.lockboot.sample.live;

import java.util.List;

/**
 * A lock as the page shows it.
 *
 * @param owner the instance that holds it; empty if it is free
 * @param token the newest fencing token that Redis gave; a text, for scripts in browsers round integers of this size
 * @param leftMs how long the lease lasts yet
 * @param ttlMs how long a lease of this holder lasts in all
 * @param queue the instances that wait in Redis, first come first
 */
record LockView(
        String scenario, String name, String owner, String token, long leftMs, long ttlMs, List<String> queue) {}
