package io.github.lockboot.aop;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** How calls of a method come under its locks; chosen once for each method. */
@FunctionalInterface
interface CallStrategy {

    @Nullable
    Object invoke(LockedCall call, MethodInvocation invocation) throws Throwable;
}
