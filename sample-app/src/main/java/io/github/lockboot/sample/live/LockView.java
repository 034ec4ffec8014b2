package io.github.lockboot.sample.live;

import java.util.List;

/**
 * A lock as the page shows it.
 *
 * @param owner the instance that holds it; empty if it is free
 * @param token the newest fencing token that Redis gave, as text because JavaScript rounds integers of this size
 * @param leftMs how long the lease still lasts
 * @param ttlMs how long a lease of this holder lasts in all
 * @param queue the instances that wait in Redis, in order
 */
record LockView(
        String scenario, String name, String owner, String token, long leftMs, long ttlMs, List<String> queue) {}
