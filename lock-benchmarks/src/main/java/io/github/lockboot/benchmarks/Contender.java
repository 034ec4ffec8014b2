package io.github.lockboot.benchmarks;

import java.util.Set;
import java.util.concurrent.locks.Lock;

/** A library that takes part, in one configuration. */
interface Contender {

    /** Its name in the results; also part of its lock names, so that no two contenders share a key. */
    String name();

    /** Connects as one application instance would. */
    Client connect(String host, int port);

    /** The commands its client sends besides scripts and subscriptions, as INFO commandstats names them. */
    default Set<String> ownCommands() {
        return Set.of();
    }

    /** One application instance's locks. */
    interface Client extends AutoCloseable {

        /** A lock for use by the calling thread alone; other threads get their own for the same name. */
        Lock lock(String name);

        @Override
        void close();
    }
}
