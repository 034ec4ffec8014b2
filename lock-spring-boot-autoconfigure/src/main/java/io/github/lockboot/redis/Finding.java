package io.github.lockboot.redis;

/**
 * A problem that {@link RedisLockRegistry#check} found.
 *
 * @param certain false if the check itself was not possible
 * @param problem the problem
 * @param action what to do
 */
public record Finding(boolean certain, String problem, String action) {

    @Override
    public String toString() {
        return problem + ": " + action;
    }
}
