package io.github.lockboot.faults;

import java.util.List;

import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.harness.RedisAddress;

/** The Redis of a scene, as its processes find it and as the harness looks into it. */
interface Deployment extends AutoCloseable {

    /** How the worker of that number, from 0 on, reaches it. */
    RedisAddress address(int worker);

    /** The server that has this key now. */
    RedisServer serverOf(String key);

    /** Those that accept writes now. */
    List<RedisServer> masters();

    @Override
    void close();

    /** It cannot be had on this machine; the message says why. */
    final class NotHereException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        NotHereException(String message) {
            super(message);
        }
    }
}
