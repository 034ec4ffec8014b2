package io.github.lockboot.redis.protocol;

/**
 * Makes sure that enough stack is left before anything is changed. A stack overflow in the middle of a change would leave it half
 * done: a mutex that stays locked, a lock without an owner, a connection that no longer sends. Here the stack overflows while
 * nothing has happened yet.
 *
 * <p>The JVM does not tell how much stack is left, so the check uses as much as will be needed and gives it back. A frame of
 * {@link #descend} takes 80 bytes when compiled, and three times as much before, when all other code is not compiled either.
 */
public final class StackReserve {

    private StackReserve() {}

    /**
     * Called before the engine changes anything for a caller: 8 KB.
     *
     * @throws StackOverflowError if the current thread has little stack left
     */
    public static void check() {
        descend(100, 1, 2, 3, 4, 5, 6, 7, 8);
    }

    /** As {@link #check}, before a client sends a command: 16 KB, of which Lettuce was measured to use 6. */
    static void checkForClient() {
        descend(200, 1, 2, 3, 4, 5, 6, 7, 8);
    }

    /** All parameters are used after the recursive call, so each frame has to keep them. */
    private static long descend(int left, long a, long b, long c, long d, long e, long f, long g, long h) {
        return left == 0 ? a : descend(left - 1, b, c, d, e, f, g, h, a + left) ^ a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
    }
}
