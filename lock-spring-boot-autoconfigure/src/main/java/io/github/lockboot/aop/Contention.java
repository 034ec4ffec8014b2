package io.github.lockboot.aop;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.IfNotAcquired;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.aop.LockedMethod.End;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** What the caller gets if another held the lock until the wait ended. */
@FunctionalInterface
interface Contention {

    Contention THROW = (invocation, cause) -> {
        throw cause;
    };

    @Nullable
    Object resolve(MethodInvocation invocation, LockNotAcquiredException cause) throws Throwable;

    static Contention read(DistributedLock annotation, LockedMethod method) {
        boolean skip = annotation.ifNotAcquired() == IfNotAcquired.SKIP;
        if (annotation.fallback().isEmpty()) {
            return skip ? skip(method) : THROW;
        }
        if (skip) {
            method.add("has both fallback and ifNotAcquired = SKIP", "leave one of them");
        }
        return fallback(annotation.fallback(), method);
    }

    private static Contention skip(LockedMethod method) {
        Class<?> type = method.resultType();
        ReactiveAdapter adapter = LockedMethod.adapterOf(type);
        boolean stage = method.end() == End.STAGE;
        ResolvableType value = stage ? method.result().as(CompletionStage.class).getGeneric() : method.result();
        Map<Class<?>, Object> empties = Map.of(
                Optional.class, Optional.empty(),
                OptionalInt.class, OptionalInt.empty(),
                OptionalLong.class, OptionalLong.empty(),
                OptionalDouble.class, OptionalDouble.empty());
        Object empty = empties.get(value.toClass());
        String none = "so there is no value for a call that was skipped";
        if (adapter != null ? !adapter.supportsEmpty() : type.isPrimitive() && type != void.class) {
            String boxed = ClassUtils.resolvePrimitiveIfNecessary(type).getSimpleName();
            method.addReturns(none, "return " + boxed + " or Optional, or use a fallback");
        } else if (adapter == null && !stage && empty == null && method.isNeverNull()) {
            method.addReturns(none, "make that type nullable, or use a fallback");
        }
        return (invocation, cause) -> stage ? CompletableFuture.completedFuture(empty) : empty;
    }

    /** Calls another method of the class, with the parameters of this one, optionally followed by the exception. */
    private static Contention fallback(String name, LockedMethod method) {
        Class<?>[] parameters = method.method().getParameterTypes();
        Class<?>[] withCause = method.withLast(parameters, LockNotAcquiredException.class);
        Method plain = ReflectionUtils.findMethod(method.targetClass(), name, parameters);
        Method found = plain != null && !plain.equals(method.method())
                ? plain
                : ReflectionUtils.findMethod(method.targetClass(), name, withCause);
        if (found == null) {
            method.add(
                    "names the fallback " + name + ", and no such method of "
                            + method.targetClass().getName() + " has its parameters",
                    "write " + name + LockedMethod.list(parameters) + " or " + name + LockedMethod.list(withCause));
            return THROW;
        }
        Class<?> type = method.resultType();
        Class<?> given = new LockedMethod(found, method.targetClass()).resultType();
        if (!ClassUtils.isAssignable(type, given) && type != void.class) {
            method.add(
                    "names the fallback " + name + ", which returns " + given.getSimpleName(),
                    "make it return " + type.getSimpleName());
        }
        return (invocation, cause) -> {
            @Nullable Object[] args = invocation.getArguments();
            return AopUtils.invokeJoinpointUsingReflection(
                    invocation.getThis(),
                    found,
                    found.getParameterCount() > parameters.length ? method.withLast(args, cause) : args);
        };
    }
}
