package io.github.lockboot.aop;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.function.Supplier;

import io.github.lockboot.LockNotAcquiredException;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** What the caller gets when another held the lock until the wait ended. */
@FunctionalInterface
interface Contention {

    /** The exception. */
    Contention THROW = (invocation, cause) -> {
        throw cause;
    };

    @Nullable
    Object resolve(MethodInvocation invocation, LockNotAcquiredException cause) throws Throwable;

    /** A value that says nothing. */
    static Contention skip(Supplier<? extends @Nullable Object> empty) {
        return (invocation, cause) -> empty.get();
    }

    /**
     * The result of another method.
     *
     * @param method of the same class, with the parameters of the locked one
     * @param takesCause whether the exception is its last argument
     */
    record Fallback(Method method, boolean takesCause) implements Contention {

        @Override
        public @Nullable Object resolve(MethodInvocation invocation, LockNotAcquiredException cause) throws Throwable {
            @Nullable Object[] args = invocation.getArguments();
            if (takesCause) {
                args = Arrays.copyOf(args, args.length + 1);
                args[args.length - 1] = cause;
            }
            try {
                return method.invoke(invocation.getThis(), args);
            } catch (InvocationTargetException failure) {
                throw failure.getTargetException();
            }
        }
    }
}
