package io.github.lockboot.aop;

import java.util.List;
import java.util.Map;

import io.github.lockboot.aop.InvalidLockDefinitionException.Finding;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapter;

/**
 * Finds results whose work continues after the method has returned and its lock was released. A declared type shows
 * this at the start. If a method declares {@code Object} or an interface, only what it returns shows it.
 */
final class LaterResult {

    private static final String AWAITED = "wait for it in the function, and return what it gives";
    private static final String COLLECTION = "return a collection";
    private static final String FLOW = "kotlinx.coroutines.flow.Flow";
    private static final String FUTURE = "return CompletableFuture";
    private static final String REACTOR = "add kotlinx-coroutines-reactor";
    private static final String VALUE = "return what it gives";
    private static final String WRITTEN = "lock a method that is called while the response is written";

    /** What to do instead, by the name of a type, which may be absent. */
    private static final Map<String, String> WORK = Map.ofEntries(
            Map.entry("java.util.concurrent.CompletionStage", FUTURE),
            Map.entry("java.util.concurrent.Future", FUTURE),
            Map.entry("java.util.stream.BaseStream", COLLECTION),
            Map.entry("kotlin.sequences.Sequence", COLLECTION),
            Map.entry("kotlinx.coroutines.Deferred", REACTOR),
            Map.entry("kotlinx.coroutines.Job", "return Deferred"),
            Map.entry("kotlinx.coroutines.channels.ReceiveChannel", "return Flow"),
            Map.entry(FLOW, REACTOR),
            Map.entry("org.springframework.web.context.request.async.DeferredResult", FUTURE),
            Map.entry("org.springframework.web.context.request.async.WebAsyncTask", FUTURE),
            Map.entry("org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter", WRITTEN),
            Map.entry("org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody", WRITTEN));

    /**
     * Only if the declared type is an interface: a class of the application that implements it may be a plain value.
     */
    private static final Map<String, String> WORK_IF_DECLARED = Map.of(
            "java.util.function.Supplier", VALUE,
            "java.util.concurrent.Callable", VALUE,
            "java.util.Iterator", COLLECTION,
            "kotlin.Function", VALUE,
            "kotlin.Lazy", VALUE);

    private LaterResult() {}

    /** @return what to do instead; null if nothing is wrong with the declared type */
    static @Nullable String insteadOf(LockedMethod method) {
        Class<?> declared = method.resultType();
        String instead = find(declared, WORK);
        if (instead == null && declared.isInterface()) {
            instead = find(declared, WORK_IF_DECLARED);
        }
        if (!method.suspends()) {
            return instead;
        }
        // Of what a suspending function returns, Spring waits for the end of a Flow only.
        boolean later = instead != null || LockedMethod.adapterOf(declared) != null;
        return later && !declared.getName().equals(FLOW) ? AWAITED : null;
    }

    private static @Nullable String find(@Nullable Class<?> type, Map<String, String> work) {
        if (type == null) {
            return null;
        }
        String found = work.get(type.getName());
        for (Class<?> each : type.getInterfaces()) {
            found = found != null ? found : find(each, work);
        }
        return found != null ? found : find(type.getSuperclass(), work);
    }

    /** @throws InvalidLockDefinitionException if the result is work that the lock of the method does not cover */
    static void refuse(LockedMethod method, Object result) {
        String action = actionFor(result.getClass());
        if (action != null) {
            Finding hidden = new Finding(
                    method.toString(),
                    "has run and returned a " + result.getClass().getSimpleName() + " but declares "
                            + method.resultType().getSimpleName()
                            + ", so the lock is released before the work is done",
                    method.suspends() ? AWAITED : action);
            throw new InvalidLockDefinitionException(List.of(hidden));
        }
    }

    private static @Nullable String actionFor(Class<?> returned) {
        ReactiveAdapter adapter = LockedMethod.adapterOf(returned);
        if (adapter != null) {
            return "declare " + adapter.getReactiveType().getSimpleName();
        }
        String instead = find(returned, WORK);
        return instead != null ? instead + " and declare it" : null;
    }
}
