package io.github.lockboot.autoconfigure.actuate;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.Unexpected;
import io.github.lockboot.redis.RedisLockRegistry;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * Shows a single lock as Redis has it, whoever holds it, and ends holds by force. It reads the key of that lock only. The name is a
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

    /** The body has the {@code name} and the {@code state}, or, unless the status is 200, a {@code problem} if there is more to say. */
    @ReadOperation
    WebEndpointResponse<Map<String, Object>> state(String name) {
        return answer(name, () -> {
            Map<String, Object> state = registry instanceof RedisLockRegistry redis
                    ? redis.inspector().stateOf(name)
                    : Map.of();
            if (state.isEmpty()) {
                return new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND);
            }
            Map<String, Object> body = new LinkedHashMap<>();
            body.put("name", shown(name, namesShown));
            body.put("state", state);
            return new WebEndpointResponse<>(body);
        });
    }

    @DeleteOperation
    WebEndpointResponse<Map<String, Object>> release(String name, String owner) {
        if (!forceRelease || !(registry instanceof RedisLockRegistry redis)) {
            return problem(403, "a forced release needs lock.endpoint.force-release=true and locks on Redis");
        }
        return answer(
                name,
                () -> redis.inspector().forceRelease(name, owner)
                        ? new WebEndpointResponse<>(WebEndpointResponse.STATUS_NO_CONTENT)
                        : problem(409, "no holder of the lock has this id"));
    }

    /** Throws nothing whose message has the name in it: the server would write that to its log. */
    private static WebEndpointResponse<Map<String, Object>> answer(
            String name, Supplier<WebEndpointResponse<Map<String, Object>>> question) {
        try {
            LockNames.valid(name);
        } catch (IllegalArgumentException invalid) {
            throw new InvalidEndpointRequestException(invalid.toString(), invalid.getMessage());
        }
        try {
            return question.get();
        } catch (LockUnavailableException unavailable) {
            Throwable cause = Objects.requireNonNull(unavailable.getCause());
            return problem(503, "Redis did not answer or refused: " + Unexpected.reasonOf(cause));
        }
    }

    private static WebEndpointResponse<Map<String, Object>> problem(int status, String problem) {
        return new WebEndpointResponse<>(Map.of("problem", problem), status);
    }

    /** A name, or a digest of it. */
    static String shown(String name, boolean namesShown) {
        return namesShown ? LockNames.printable(name) : LockNames.digest(name);
    }
}
