package io.github.lockboot.aop;

import java.lang.reflect.Method;
import java.util.Arrays;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.IfNotAcquired;
import io.github.lockboot.LockNotAcquiredException;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Reads what the caller gets when another held the lock. */
final class ContentionReader {

    private final AttributeReader reader;
    private final ResultKind result;
    private final LockedMethod method;

    ContentionReader(AttributeReader reader, ResultKind result) {
        this.reader = reader;
        this.result = result;
        this.method = reader.method();
    }

    Contention read(DistributedLock annotation) {
        boolean skip = annotation.ifNotAcquired() == IfNotAcquired.SKIP;
        if (!annotation.fallback().isEmpty()) {
            if (skip) {
                reader.find("has both fallback and ifNotAcquired = SKIP", "leave one of them");
            }
            return fallback(annotation.fallback());
        }
        return skip ? skip() : Contention.THROW;
    }

    private Contention skip() {
        Class<?> type = method.resultType();
        if (!result.canBeEmpty(method)) {
            reader.find(
                    "returns " + type.getSimpleName() + ", so there is no value for a call that was skipped",
                    "return " + ClassUtils.resolvePrimitiveIfNecessary(type).getSimpleName()
                            + " or Optional, or use a fallback");
        }
        return Contention.skip(result.emptyFor(method));
    }

    private Contention fallback(String name) {
        Class<?>[] parameters = method.method().getParameterTypes();
        Class<?>[] withCause = Arrays.copyOf(parameters, parameters.length + 1);
        withCause[parameters.length] = LockNotAcquiredException.class;
        Method plain = find(name, parameters);
        Method found = plain != null && !plain.equals(method.method()) ? plain : find(name, withCause);
        if (found == null) {
            String list = Arrays.stream(parameters)
                    .map(Class::getSimpleName)
                    .reduce((one, other) -> one + ", " + other)
                    .orElse("");
            reader.find(
                    "names the fallback " + name + ", and no such method of "
                            + method.targetClass().getName() + " has its parameters",
                    "write " + name + "(" + list + ") or " + name + "(" + list + (list.isEmpty() ? "" : ", ")
                            + "LockNotAcquiredException)");
            return Contention.THROW;
        }
        Class<?> type = method.resultType();
        Class<?> given = new LockedMethod(found, method.targetClass()).resultType();
        if (!ClassUtils.isAssignable(type, given) && type != void.class) {
            reader.find(
                    "names the fallback " + name + ", which returns " + given.getSimpleName(),
                    "make it return " + type.getSimpleName());
        }
        ReflectionUtils.makeAccessible(found);
        return new Contention.Fallback(found, found.getParameterCount() > parameters.length);
    }

    private @Nullable Method find(String name, Class<?>[] parameters) {
        return ReflectionUtils.findMethod(method.targetClass(), name, parameters);
    }
}
