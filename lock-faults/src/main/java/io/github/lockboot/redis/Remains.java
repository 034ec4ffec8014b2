package io.github.lockboot.redis;

/** What a registry still has in use, for those outside its package. */
public final class Remains {

    private Remains() {}

    /** Names in use and ids under way. */
    public static int of(RedisLockRegistry registry) {
        return registry.inUse();
    }
}
