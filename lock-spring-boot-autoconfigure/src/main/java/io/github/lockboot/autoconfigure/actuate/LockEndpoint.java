package io.github.lockboot.autoconfigure.actuate;

import java.util.Map;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.redis.RedisLockRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * Shows a single lock as Redis has it, whoever holds it, and releases it by force. It reads the key of that lock only. The name is a
 * parameter, because a path cannot have every name: servers refuse an encoded backslash or slash in it.
 */
@Endpoint(id = "lock")
class LockEndpoint {

    private final LockRegistry registry;
    private final boolean namesShown;
    private final boolean forceRelease;

    LockEndpoint(LockRegistry registry, boolean namesShown, boolean forceRelease) {
        this.registry = registry;
        this.namesShown = namesShown;
        this.forceRelease = forceRelease;
    }

    /** @param state the key type, its time to live, the text that is stored and its parts */
    record State(String name, Map<String, String> state) {}

    /** Returns null, which is 404 over HTTP, if there is no such key in Redis. */
    @ReadOperation
    @Nullable
    State state(String name) {
        Map<String, String> state =
                registry instanceof RedisLockRegistry redis ? redis.inspector().stateOf(name) : Map.of();
        return state.isEmpty() ? null : new State(shown(name, namesShown), state);
    }

    @DeleteOperation
    WebEndpointResponse<Map<String, String>> release(String name, String owner) {
        if (!forceRelease || !(registry instanceof RedisLockRegistry redis)) {
            return new WebEndpointResponse<>(
                    Map.of("problem", "a forced release needs lock.endpoint.force-release=true and locks on Redis"),
                    403);
        }
        return redis.inspector().forceRelease(name, owner)
                ? new WebEndpointResponse<>(WebEndpointResponse.STATUS_NO_CONTENT)
                : new WebEndpointResponse<>(Map.of("problem", "the lock is not held by this owner"), 409);
    }

    /** A name, or a digest of it. */
    static String shown(String name, boolean namesShown) {
        return namesShown ? LockNames.printable(name) : LockNames.digest(name);
    }
}
