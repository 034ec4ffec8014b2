package io.github.lockboot.aop;

import java.util.concurrent.CompletableFuture;

import io.github.lockboot.LockNotAcquiredException;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** What came of trying to take all locks of a call. */
sealed interface Attempt permits HeldLocks, Attempt.Refusal {

    /** Gives back what is held, without blocking where the holds allow it. */
    CompletableFuture<Void> releaseLater(boolean succeeded);

    /** Another held one of them, and none is held now. */
    record Refusal(LockSpec spec, LockNotAcquiredException cause) implements Attempt {

        /** What the caller gets instead of the method's result. */
        @Nullable
        Object resolve(MethodInvocation invocation) throws Throwable {
            return spec.contention().resolve(invocation, cause);
        }

        @Override
        public CompletableFuture<Void> releaseLater(boolean succeeded) {
            return CompletableFuture.completedFuture(null);
        }
    }
}
