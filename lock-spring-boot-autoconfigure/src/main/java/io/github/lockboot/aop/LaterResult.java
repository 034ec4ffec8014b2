package io.github.lockboot.aop;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapter;

/**
 * Recognizes results whose work goes on after the method, and so its lock, has ended. A declared type shows it at the start; behind
 * {@code Object} or an interface it shows when the method has returned.
 */
final class LaterResult {

    /** What to do instead, by the names of types, which may be absent. */
    private static final Map<String, String> WORK = Map.of(
            "java.util.concurrent.CompletionStage", "return CompletableFuture",
            "java.util.concurrent.Future", "return CompletableFuture",
            "java.util.stream.BaseStream", "return a collection",
            "org.springframework.web.context.request.async.DeferredResult", "return CompletableFuture",
            "org.springframework.web.context.request.async.WebAsyncTask", "return CompletableFuture",
            "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
                    "lock a method that is called while the response is written",
            "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
                    "lock a method that is called while the response is written");

    /** With what is work only as an interface: a class that implements it may be a value of the application. */
    private static final Map<String, String> WORK_OF_INTERFACES = withAll(
            WORK,
            Map.of(
                    "java.util.function.Supplier", "return what it gives",
                    "java.util.concurrent.Callable", "return what it gives",
                    "java.util.Iterator", "return a collection"));

    private static final ClassValue<Optional<String>> RETURNED = new ClassValue<>() {
        @Override
        protected Optional<String> computeValue(Class<?> type) {
            String instead = insteadOf(type);
            if (instead != null) {
                return Optional.of(instead + " and declare it");
            }
            ReactiveAdapter adapter = ResultKind.adapterOf(type);
            return Optional.ofNullable(adapter)
                    .map(reactive -> "declare " + reactive.getReactiveType().getSimpleName());
        }
    };

    private LaterResult() {}

    /** @return null if a result of that declared type is there when the method returns, as far as the type shows */
    static @Nullable String insteadOf(Class<?> declared) {
        return find(declared, declared.isInterface() ? WORK_OF_INTERFACES : WORK);
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

    /** Whether what is returned may be later work although its declared type does not say so. */
    static boolean canBeHiddenBy(Class<?> declared) {
        return declared == Object.class || declared.isInterface();
    }

    /** @throws InvalidLockDefinitionException if the result is work that the lock of the method does not cover */
    static void refuse(LockedMethod method, Object result) {
        Optional<String> instead = RETURNED.get(result.getClass());
        if (instead.isPresent()) {
            Findings findings = new Findings(method);
            findings.add(
                    "has run and returned a " + result.getClass().getSimpleName() + " but declares "
                            + method.resultType().getSimpleName()
                            + ", so the lock is released before the work is done",
                    instead.get());
            findings.throwIfAny();
        }
    }

    private static Map<String, String> withAll(Map<String, String> some, Map<String, String> more) {
        Map<String, String> all = new HashMap<>(some);
        all.putAll(more);
        return Map.copyOf(all);
    }
}
