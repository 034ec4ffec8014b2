package io.github.lockboot.sample.live;

import java.util.List;

/**
 * A lock as the page shows it.
 *
 * @param holders the instance of each hold; empty if it is free. The readers of an instance share a hold, and each permit is one
 * @param kind how they hold it: 0 alone, -1 as readers, above zero with so many permits
 * @param token the newest fencing token that Redis gave, as text because JavaScript rounds integers of this size
 * @param leftMs how long the first lease to end still lasts
 * @param ttlMs how long that lease lasts in all
 * @param queue the instances that wait in Redis, in order
 */
record LockView(
        String scenario,
        String name,
        List<String> holders,
        int kind,
        String token,
        long leftMs,
        long ttlMs,
        List<String> queue) {}
