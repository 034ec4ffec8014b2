package io.github.lockboot.aop;

import java.util.List;

import io.github.lockboot.HeldLocks;
import io.github.lockboot.LockSet;
import io.github.lockboot.aop.LockDefinition.Needed;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * All locks of a call, taken by a thread that waits for them, for the time of the call; or, where a transaction is active, until that
 * has ended.
 */
final class BlockingCall implements CallStrategy {

    private static final boolean TRANSACTIONS_PRESENT = ClassUtils.isPresent(
            "org.springframework.transaction.support.TransactionSynchronizationManager",
            BlockingCall.class.getClassLoader());

    @Override
    @SuppressWarnings("NullAway") // what runs may return null, as its type argument says
    public @Nullable Object invoke(LockedCall call, MethodInvocation invocation) throws Throwable {
        List<Needed> needed = call.needed(invocation);
        HeldLocks held = LockSet.take(Needed.locks(needed, false));
        if (!held.isEmpty() && isInTransaction()) {
            handOver(call, held);
            return call.run(invocation, needed, held);
        }
        return held.<@Nullable Object, Throwable>runAndRelease(() -> call.run(invocation, needed, held));
    }

    static boolean isInTransaction() {
        return TRANSACTIONS_PRESENT && TransactionBoundLocks.isTransactionActive();
    }

    private static void handOver(LockedCall call, HeldLocks held) {
        try {
            call.warnOfTransaction();
            TransactionBoundLocks.bind(held);
        } catch (RuntimeException | Error failure) {
            held.releaseAfter(failure);
            throw failure;
        }
    }
}
