package io.github.lockboot.sample.ticket;

import java.util.List;

/** How windows take turns. */
interface Windows {

    /** As the parameter {@code mode} names it. */
    String mode();

    /** Sells at these windows, each a thread of its own, until the tickets are gone. */
    void sell(String lockName, List<Integer> windows, Counter counter) throws InterruptedException;
}
