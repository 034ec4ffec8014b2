package io.github.lockboot.sample.ticket;

/** Sells one ticket, which must happen at one window at a time. */
@FunctionalInterface
interface Counter {

    /** @return whether there was one and the window stays open */
    boolean sellOne(int window) throws InterruptedException;
}
