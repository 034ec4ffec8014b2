package io.github.lockboot.aop;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.IfNotAcquired;
import io.github.lockboot.LockNotAcquiredException;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** What the caller gets when another held the lock until the wait ended. */
@FunctionalInterface
interface Contention {

    /** The exception. */
    Contention THROW = (invocation, cause) -> {
        throw cause;
    };

    @Nullable
    Object resolve(MethodInvocation invocation, LockNotAcquiredException cause) throws Throwable;

    /** What the annotation asks for. */
    static Contention read(DistributedLock annotation, LockedMethod method, ResultKind result, Findings findings) {
        boolean skip = annotation.ifNotAcquired() == IfNotAcquired.SKIP;
        if (!annotation.fallback().isEmpty()) {
            if (skip) {
                findings.add("has both fallback and ifNotAcquired = SKIP", "leave one of them");
            }
            return fallback(annotation.fallback(), method, findings);
        }
        if (!skip) {
            return THROW;
        }
        if (!result.canBeEmpty(method)) {
            findings.addReturns(
                    "so there is no value for a call that was skipped",
                    "return "
                            + ClassUtils.resolvePrimitiveIfNecessary(method.resultType())
                                    .getSimpleName()
                            + " or Optional, or use a fallback");
        }
        Supplier<? extends @Nullable Object> empty = result.emptyFor(method);
        return (invocation, cause) -> empty.get();
    }

    /** The result of another method of the same class, with the parameters of this one, optionally followed by the exception. */
    private static Contention fallback(String name, LockedMethod method, Findings findings) {
        Class<?>[] parameters = method.method().getParameterTypes();
        Class<?>[] withCause = Arrays.copyOf(parameters, parameters.length + 1);
        withCause[parameters.length] = LockNotAcquiredException.class;
        Method plain = ReflectionUtils.findMethod(method.targetClass(), name, parameters);
        Method found = plain != null && !plain.equals(method.method())
                ? plain
                : ReflectionUtils.findMethod(method.targetClass(), name, withCause);
        if (found == null) {
            findings.add(
                    "names the fallback " + name + ", and no such method of "
                            + method.targetClass().getName() + " has its parameters",
                    "write " + name + list(parameters) + " or " + name + list(withCause));
            return THROW;
        }
        Class<?> type = method.resultType();
        Class<?> given = new LockedMethod(found, method.targetClass()).resultType();
        if (!ClassUtils.isAssignable(type, given) && type != void.class) {
            findings.add(
                    "names the fallback " + name + ", which returns " + given.getSimpleName(),
                    "make it return " + type.getSimpleName());
        }
        ReflectionUtils.makeAccessible(found);
        return (invocation, cause) -> {
            @Nullable Object[] args = Arrays.copyOf(invocation.getArguments(), found.getParameterCount());
            if (args.length > parameters.length) {
                args[parameters.length] = cause;
            }
            try {
                return found.invoke(invocation.getThis(), args);
            } catch (InvocationTargetException failure) {
                throw failure.getTargetException();
            }
        };
    }

    private static String list(Class<?>[] parameters) {
        return Stream.of(parameters).map(Class::getSimpleName).collect(Collectors.joining(", ", "(", ")"));
    }
}
