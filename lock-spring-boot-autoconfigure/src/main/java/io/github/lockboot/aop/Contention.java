package io.github.lockboot.aop;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.stream.Stream;

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

/** The result for the caller if another caller held the lock until the wait ended. */
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
            if (!skip) {
                return THROW;
            }
            Supplier<@Nullable Object> skipped = skipped(method);
            return (invocation, cause) -> skipped.get();
        }
        if (skip) {
            method.add("has both fallback and ifNotAcquired = SKIP", "remove one of them");
        }
        return fallback(annotation.fallback(), method);
    }

    /** {@return the result of a call that was skipped} */
    static Supplier<@Nullable Object> skipped(LockedMethod method) {
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
        return () -> stage ? CompletableFuture.completedFuture(empty) : empty;
    }

    /** Calls another method of the class, with the parameters of this one, optionally followed by the exception. */
    private static Contention fallback(String name, LockedMethod method) {
        List<Class<?>> parameters = method.parameterTypes();
        List<Class<?>> withCause = withCause(parameters);
        List<Class<?>> erased = List.of(method.method().getParameterTypes()).subList(0, parameters.size());
        LockedMethod found = Stream.of(parameters, withCause, erased, withCause(erased))
                .flatMap(wanted -> find(name, method, wanted))
                .findFirst()
                .orElse(null);
        if (found == null) {
            method.add(
                    "names the fallback " + name + ", but no method " + name + " of "
                            + method.targetClass().getName() + " has its parameters",
                    "write " + name + LockedMethod.list(parameters) + " or " + name + LockedMethod.list(withCause));
            return THROW;
        }
        Class<?> type = method.valueType();
        Class<?> given = found.valueType();
        if (found.suspends() && !method.suspends()) {
            method.add(
                    "names the fallback " + name + ", which suspends, but the function does not",
                    "use a method that does not suspend");
        } else if (!ClassUtils.isAssignable(type, given)
                && type != void.class
                && !type.getName().equals("kotlin.Unit")) {
            method.add(
                    "names the fallback " + name + ", which returns " + given.getSimpleName(),
                    "make it return " + type.getSimpleName());
        }
        boolean takesCause = found.parameterTypes().size() > parameters.size();
        return (invocation, cause) -> {
            List<@Nullable Object> args =
                    new ArrayList<>(Arrays.asList(invocation.getArguments()).subList(0, parameters.size()));
            if (takesCause) {
                args.add(cause);
            }
            if (found.suspends()) {
                args.add(invocation.getArguments()[parameters.size()]); // the continuation
            }
            return AopUtils.invokeJoinpointUsingReflection(
                    InnerProxy.targetOf(invocation), found.method(), args.toArray());
        };
    }

    private static List<Class<?>> withCause(List<Class<?>> parameters) {
        return Stream.concat(parameters.stream(), Stream.<Class<?>>of(LockNotAcquiredException.class))
                .toList();
    }

    private static Stream<LockedMethod> find(String name, LockedMethod method, List<Class<?>> parameters) {
        return Stream.of(ReflectionUtils.getAllDeclaredMethods(method.targetClass()))
                .filter(candidate -> !candidate.isBridge() && !candidate.equals(method.method()))
                .map(candidate -> new LockedMethod(candidate, method.targetClass()))
                .filter(candidate ->
                        candidate.isNamed(name) && candidate.parameterTypes().equals(parameters));
    }
}
