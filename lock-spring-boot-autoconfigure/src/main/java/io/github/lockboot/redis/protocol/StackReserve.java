package io.github.lockboot.redis.protocol;

/**
 * Sees to it that there is stack enough before anything is changed. A stack that overflows in the middle of a change leaves it half
 * done: a mutex that nobody will free, a lock that is nobody's, a connection that sends nothing any more. Here it overflows while
 * nothing has happened yet.
 *
 * <p>Nobody can be asked how much is left, so as much as will be needed is used for a moment. A frame of {@link #descend} takes 80
 * bytes once it is compiled, and three times as much before, when everything else is not compiled either.
 */
public final class StackReserve {

    /** 8 KB for the engine itself. */
    private static final int OF_ENGINE = 100;

    /** 16 KB for a client of Redis that sends a command; Lettuce was seen to use 6. */
    private static final int OF_CLIENT = 200;

    private StackReserve() {}

    /**
     * Before the engine changes anything for a caller.
     *
     * @throws StackOverflowError if the current thread has little stack left
     */
    public static void check() {
        descend(OF_ENGINE, 1, 2, 3, 4, 5, 6, 7, 8);
    }

    /**
     * Before a client sends a command.
     *
     * @throws StackOverflowError if the current thread has little stack left
     */
    public static void checkForClient() {
        descend(OF_CLIENT, 1, 2, 3, 4, 5, 6, 7, 8);
    }

    /** What is used on the way back has to lie on the stack meanwhile. */
    private static long descend(int left, long a, long b, long c, long d, long e, long f, long g, long h) {
        return left == 0 ? a : descend(left - 1, b, c, d, e, f, g, h, a + left) ^ a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
    }
}
