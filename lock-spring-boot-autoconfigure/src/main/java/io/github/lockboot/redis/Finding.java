package io.github.lockboot.redis;

/**
 * A problem that {@link RedisLockRegistry#check} found.
 *
 * @param fatal whether no lock can be acquired until it is solved, because Redis refuses to acknowledge grants
 * @param problem the problem
 * @param action what to do
 */
public record Finding(boolean fatal, String problem, String action) {

    @Override
    public String toString() {
        return problem + ": " + action;
    }
}
