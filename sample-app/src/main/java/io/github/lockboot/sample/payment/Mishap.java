package io.github.lockboot.sample.payment;

/** What may happen to a process that pays. */
enum Mishap {
    NONE,
    /** It stands still before it writes the new balance, for longer than the expiry. */
    SLOW,
    /** It stands still while it gives the lock back, for longer than the expiry. */
    LATE
}
