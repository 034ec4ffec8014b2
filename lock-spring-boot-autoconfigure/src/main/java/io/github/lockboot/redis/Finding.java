package io.github.lockboot.redis;

/**
 * A problem that {@link RedisLockRegistry#check} found.
 *
 * @param certain false if it is only something that could not be checked
 * @param problem what is wrong
 * @param action what to do about it
 */
public record Finding(boolean certain, String problem, String action) {

    @Override
    public String toString() {
        return problem + ": " + action;
    }
}
