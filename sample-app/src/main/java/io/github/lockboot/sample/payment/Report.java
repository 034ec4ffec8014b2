package io.github.lockboot.sample.payment;

/**
 * The result of the payments of one mode.
 *
 * @param payments those made
 * @param overlaps how often one began while another was under way
 * @param lostUpdates those made that the balance does not contain, because a later write was based on an older balance
 */
record Report(long payments, long overlaps, long lostUpdates) {}
