package io.github.lockboot.sample.payment;

/** A failure of a process that pays. */
enum Mishap {
    NONE,
    /** It is paused before it writes the new balance, for longer than the expiry. */
    SLOW,
    /** It is paused while it releases the lock, for longer than the expiry. */
    LATE
}
