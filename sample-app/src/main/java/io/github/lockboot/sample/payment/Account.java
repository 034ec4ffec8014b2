package io.github.lockboot.sample.payment;

import io.github.lockboot.sample.Money;

/**
 * An account as it stands for one mode.
 *
 * @param balance what the account says
 * @param expected what it would say if no payment had been lost
 */
record Account(Money balance, Money expected) {}
