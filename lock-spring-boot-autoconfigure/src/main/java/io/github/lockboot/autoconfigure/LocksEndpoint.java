package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockUse;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.redis.RedisLockRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * The locks this instance holds or waits for, and one lock as Redis has it. It asks Redis for the key of the lock that was named
 * and for no other.
 */
@Endpoint(id = "locks")
class LocksEndpoint {

    private final LocksInUse inUse;
    private final LockRegistry registry;
    private final boolean namesShown;
    private final boolean mayRelease;

    LocksEndpoint(LocksInUse inUse, LockRegistry registry, LockProperties properties) {
        this.inUse = inUse;
        this.registry = registry;
        this.namesShown = properties.logKeys();
        this.mayRelease = properties.endpoint().forceRelease();
    }

    /** Those held and those waited for, each the oldest first. */
    record Locks(List<Held> held, List<Waiting> waiting) {}

    /**
     * @param name the group
     * @param key a digest of the lock's name, or the name itself
     * @param thread null for a lease
     * @param owner the id under which Redis knows the holder
     * @param queue how many wait for it in this instance
     */
    record Held(
            @Nullable String name,
            String key,
            @Nullable String thread,
            Instant since,
            @Nullable String owner,
            long fence,
            Duration remainingLease,
            long queue) {}

    /**
     * @param name the group
     * @param key a digest of the lock's name, or the name itself
     * @param thread null for a lease
     * @param position its place among those who wait for it in this instance, from 1
     */
    record Waiting(
            @Nullable String name, String key, @Nullable String thread, Instant since, long position) {}

    /** @param state the key type, its time to live and the fields of the hash */
    record State(String key, Map<String, String> state) {}

    @ReadOperation
    Locks locks() {
        List<LocksInUse.Step> steps = inUse.steps();
        List<LocksInUse.Step> waiting =
                steps.stream().filter(step -> !step.held()).toList();
        return new Locks(
                steps.stream()
                        .filter(LocksInUse.Step::held)
                        .map(step -> held(step, waiting))
                        .toList(),
                waiting.stream().map(step -> waiting(step, waiting)).toList());
    }

    private Held held(LocksInUse.Step step, List<LocksInUse.Step> waiting) {
        LockUse use = step.use();
        long queue = waiting.stream().filter(other -> isSameLock(other, step)).count();
        return new Held(
                use.group(),
                shown(use.name()),
                threadOf(use),
                step.since(),
                use.ownerId(),
                use.fencingToken(),
                use.remainingLease(),
                queue);
    }

    private Waiting waiting(LocksInUse.Step step, List<LocksInUse.Step> waiting) {
        LockUse use = step.use();
        long position = 1
                + waiting.stream()
                        .takeWhile(other -> other != step)
                        .filter(other -> isSameLock(other, step))
                        .count();
        return new Waiting(use.group(), shown(use.name()), threadOf(use), step.since(), position);
    }

    private static boolean isSameLock(LocksInUse.Step one, LocksInUse.Step other) {
        return one.use().name().equals(other.use().name());
    }

    private static @Nullable String threadOf(LockUse use) {
        Thread thread = use.thread();
        return thread == null ? null : thread.getName();
    }

    private String shown(String name) {
        return namesShown ? LockNames.printable(name) : LockNames.digest(name);
    }

    /** Nothing, which is 404 on the web, if Redis does not have it. */
    @ReadOperation
    @Nullable
    State lock(@Selector(match = Match.ALL_REMAINING) String... name) {
        String whole = String.join("/", name);
        Map<String, String> state =
                registry instanceof RedisLockRegistry redis ? redis.inspector().stateOf(whole) : Map.of();
        return state.isEmpty() ? null : new State(shown(whole), state);
    }

    @DeleteOperation
    WebEndpointResponse<Map<String, String>> release(
            @Selector(match = Match.ALL_REMAINING) String[] name, String owner) {
        if (!mayRelease || !(registry instanceof RedisLockRegistry redis)) {
            return new WebEndpointResponse<>(
                    Map.of("problem", "locks are released by their holders only; lock.endpoint.force-release is off"),
                    403);
        }
        return redis.inspector().forceRelease(String.join("/", name), owner)
                ? new WebEndpointResponse<>(WebEndpointResponse.STATUS_NO_CONTENT)
                : new WebEndpointResponse<>(Map.of("problem", "that id does not own the lock"), 409);
    }
}
