package io.github.lockboot.autoconfigure.actuate;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.internal.Failures;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.redis.RedisLockRegistry;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.context.ApplicationContext;

/**
 * Shows the state of a single lock in the store, in whichever process it is held, and ends holds by force. It reads the
 * key of that lock only. The name is a parameter, because a path cannot have every name: servers refuse an encoded
 * backslash or slash in it.
 */
@Endpoint(id = "lock")
class LockStateEndpoint {

    private final ApplicationContext beans;
    private final boolean namesShown;
    private final boolean forceRelease;

    LockStateEndpoint(ApplicationContext beans, boolean namesShown, boolean forceRelease) {
        this.beans = beans;
        this.namesShown = namesShown;
        this.forceRelease = forceRelease;
    }

    /**
     * The body has the {@code name}, the {@code registry} that has the lock and its {@code state}. If several have a
     * lock of that name, {@code others} has the registry and state of each further one. A {@code problem} says what
     * could not be answered.
     */
    @ReadOperation
    WebEndpointResponse<Map<String, Object>> state(String name) {
        requireValid(name);
        List<Map<String, Object>> found = new ArrayList<>();
        WebEndpointResponse<Map<String, Object>> unavailable = null;
        for (Map.Entry<String, RedisLockRegistry> each : registries().entrySet()) {
            try {
                Map<String, Object> state = each.getValue().inspector().stateOf(name);
                if (!state.isEmpty()) {
                    Map<String, Object> here = new LinkedHashMap<>();
                    here.put("registry", each.getKey());
                    here.put("state", state);
                    found.add(here);
                }
            } catch (LockUnavailableException failure) {
                unavailable = unavailable(failure);
            }
        }
        if (found.isEmpty()) {
            return unavailable != null ? unavailable : new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND);
        }
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("name", shown(name, namesShown));
        body.putAll(found.remove(0));
        if (!found.isEmpty()) {
            body.put("others", found);
        }
        if (unavailable != null) {
            body.putAll(unavailable.getBody());
        }
        return new WebEndpointResponse<>(body);
    }

    @DeleteOperation
    WebEndpointResponse<Map<String, Object>> release(String name, String holderId) {
        Map<String, RedisLockRegistry> registries = forceRelease ? registries() : Map.of();
        if (registries.isEmpty()) {
            return problem(403, "a forced release needs lock.endpoint.force-release=true and a RedisLockRegistry bean");
        }
        requireValid(name);
        WebEndpointResponse<Map<String, Object>> answer = problem(409, "no holder of the lock has this id");
        for (RedisLockRegistry registry : registries.values()) {
            try {
                if (registry.inspector().forceRelease(name, holderId)) {
                    return new WebEndpointResponse<>(WebEndpointResponse.STATUS_NO_CONTENT);
                }
            } catch (LockUnavailableException failure) {
                answer = unavailable(failure);
            }
        }
        return answer;
    }

    /** By the names of their beans. */
    private Map<String, RedisLockRegistry> registries() {
        return BeanFactoryUtils.beansOfTypeIncludingAncestors(beans, RedisLockRegistry.class);
    }

    /** Throws nothing whose message has the name in it: the server would write that to its log. */
    private static void requireValid(String name) {
        try {
            LockNames.valid(name);
        } catch (IllegalArgumentException invalid) {
            throw new InvalidEndpointRequestException(invalid.toString(), invalid.getMessage());
        }
    }

    private static WebEndpointResponse<Map<String, Object>> unavailable(LockUnavailableException failure) {
        Throwable cause = Objects.requireNonNull(failure.getCause());
        return problem(503, "the store did not answer or refused: " + Failures.reasonOf(cause));
    }

    private static WebEndpointResponse<Map<String, Object>> problem(int status, String problem) {
        return new WebEndpointResponse<>(Map.of("problem", problem), status);
    }

    /** A name, or a digest of it. */
    static String shown(String name, boolean namesShown) {
        return namesShown ? LockNames.printable(name) : LockNames.digest(name);
    }
}
