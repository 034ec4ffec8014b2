package io.github.lockboot.aop;

import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/** When the result of a method is there, which decides how its locks are taken and held. */
enum ResultKind {

    /** When the method returns. */
    VALUE,

    /** When the stage completes that the method returns. */
    STAGE,

    /** When the publisher completes that the method returns, once for each subscription. */
    PUBLISHER;

    /** Nothing in them is a publisher. */
    private static final Set<String> PLAIN_PACKAGES = Set.of("java.lang", "java.math", "java.time", "java.util");

    private static final boolean REACTOR =
            ClassUtils.isPresent("reactor.core.publisher.Mono", ResultKind.class.getClassLoader());

    static ResultKind of(LockedMethod method) {
        if (KotlinDetector.isSuspendingFunction(method.method())) {
            return PUBLISHER;
        }
        Class<?> type = method.resultType();
        if (CompletionStage.class.isAssignableFrom(type)) {
            return STAGE;
        }
        return adapterOf(type) != null ? PUBLISHER : VALUE;
    }

    /** Finds results whose end cannot be waited for. */
    void check(LockedMethod method, Findings findings) {
        Class<?> type = method.resultType();
        if (this == STAGE && !type.isAssignableFrom(CompletableFuture.class)) {
            findings.addReturns("which cannot be made here", "return CompletableFuture or CompletionStage");
        }
        String instead = this == VALUE ? LaterResult.insteadOf(type) : null;
        if (instead != null) {
            findings.addReturns("so the lock would be released before the work is done", instead);
        }
        if (this == PUBLISHER && !REACTOR) {
            findings.addReturns("for which Reactor is needed", "add reactor-core");
        }
    }

    /** Whether there is an empty result. */
    boolean canBeEmpty(LockedMethod method) {
        Class<?> type = method.resultType();
        if (this == PUBLISHER) {
            ReactiveAdapter adapter = adapterOf(type);
            return adapter == null || adapter.supportsEmpty();
        }
        return !type.isPrimitive() || type == void.class;
    }

    /** What stands for no result. */
    Supplier<? extends @Nullable Object> emptyFor(LockedMethod method) {
        ResolvableType type = method.result();
        if (this == STAGE) {
            Object empty = emptyOf(type.as(CompletionStage.class).getGeneric().toClass());
            return () -> CompletableFuture.completedFuture(empty);
        }
        Object empty = this == VALUE ? emptyOf(type.toClass()) : null;
        return () -> empty;
    }

    private static @Nullable Object emptyOf(Class<?> type) {
        if (type == Optional.class) {
            return Optional.empty();
        } else if (type == OptionalInt.class) {
            return OptionalInt.empty();
        } else if (type == OptionalLong.class) {
            return OptionalLong.empty();
        } else if (type == OptionalDouble.class) {
            return OptionalDouble.empty();
        }
        return null;
    }

    /** Only a result that may be reactive is asked for: the registry of adapters loads a large part of Reactor. */
    static @Nullable ReactiveAdapter adapterOf(Class<?> type) {
        return type.isPrimitive() || type.isArray() || PLAIN_PACKAGES.contains(type.getPackageName())
                ? null
                : ReactiveAdapterRegistry.getSharedInstance().getAdapter(type);
    }
}
