package io.github.lockboot.sample.payment;

import io.github.lockboot.sample.Money;

/**
 * The state of an account in one mode.
 *
 * @param balance the balance that is stored
 * @param expected the balance if no payment had been lost
 */
record Account(Money balance, Money expected) {}
