package io.github.lockboot.sample.ticket;

import java.util.Map;

/**
 * The result of a sale.
 *
 * @param total the tickets there were
 * @param sold by window, of all instances that took part
 */
record Sale(int total, Map<Integer, Integer> sold) {}
