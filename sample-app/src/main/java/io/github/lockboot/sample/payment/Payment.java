package io.github.lockboot.sample.payment;

import io.github.lockboot.sample.Money;

/** @param balance what was left on the account */
record Payment(String orderId, Money balance) {}
