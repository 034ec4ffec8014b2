package io.github.lockboot.redis;

/** What registries still have in use, for tests outside their package. */
public final class InUse {

    private InUse() {}

    /** Names in use and ids under way over all these registries. */
    public static int of(Iterable<RedisLockRegistry> registries) {
        int sum = 0;
        for (RedisLockRegistry registry : registries) {
            sum += registry.inUse();
        }
        return sum;
    }
}
