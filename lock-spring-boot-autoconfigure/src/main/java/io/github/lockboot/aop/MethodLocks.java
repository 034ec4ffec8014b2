package io.github.lockboot.aop;

import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.HeldLocks;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.aop.LockDefinition.Needed;
import io.github.lockboot.aop.LockedMethod.End;
import io.github.lockboot.aop.key.KeyVariables;
import io.github.lockboot.internal.Logs;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.expression.EvaluationContext;
import org.springframework.scheduling.annotation.Async;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The locks of a method, parsed once. Acquires the locks of a call, runs the method and releases them. */
class MethodLocks {

    private static final boolean TRANSACTIONS_PRESENT =
            LockedMethod.isPresent("org.springframework.transaction.support.TransactionSynchronizationManager");

    private static final Log log = Logs.of(MethodLocks.class);

    private final LockedMethod method;
    private final List<LockDefinition> definitions;
    private final KeyVariables variables;
    private final @Nullable Integer tokenParameter;
    final End end;
    final boolean suspends;
    final @Nullable ReactiveAdapter adapter;
    private final boolean waits;
    private final boolean mayHideWork;
    private final AtomicBoolean warned = new AtomicBoolean();

    /**
     * @throws InvalidLockDefinitionException with all findings about the annotations that do not depend on arguments
     */
    MethodLocks(
            LockedMethod method,
            List<DistributedLock> annotations,
            ConfigurableBeanFactory beanFactory,
            Supplier<LockTemplate> template) {
        this.method = method;
        this.variables = new KeyVariables(
                method.method(),
                LockAnnotations.carrier(method.method(), method.targetClass()),
                method.targetClass(),
                method.toString(),
                beanFactory);
        method.checkResult();
        // If two definitions give the same lock, the first applies, so a lock that is kept comes first.
        this.definitions = annotations.stream()
                .map(annotation -> new LockDefinition(annotation, method, variables, beanFactory, template))
                .sorted(Comparator.comparing(definition -> definition.keep() == null))
                .toList();
        this.tokenParameter = method.tokenParameter(annotations);
        if (!method.findings().isEmpty()) {
            throw new InvalidLockDefinitionException(method.findings());
        }
        Class<?> result = method.resultType();
        this.end = method.end();
        this.suspends = method.suspends();
        this.adapter = LockedMethod.adapterOf(result);
        this.mayHideWork =
                (end == End.VALUE || suspends && adapter == null) && (result == Object.class || result.isInterface());
        // A thread of @Async runs nothing else, so it may wait.
        this.waits = AnnotatedElementUtils.hasAnnotation(method.method(), Async.class)
                || AnnotatedElementUtils.hasAnnotation(method.targetClass(), Async.class);
    }

    List<LockDefinition> definitions() {
        return definitions;
    }

    @Nullable
    Object invoke(MethodInvocation invocation) throws Throwable {
        return end == End.PUBLISHER ? new ReactiveCall(this, invocation).publisher() : invoke(invocation, held -> {});
    }

    /** @param acquired receives the locks, or the refusal, before the method runs */
    final @Nullable Object invoke(MethodInvocation invocation, Consumer<HeldLocks> acquired) throws Throwable {
        return end == End.STAGE ? callAsync(invocation, acquired) : call(invocation, acquired);
    }

    /**
     * The locks that a call needs, in the order in which they must be acquired, each once.
     *
     * @throws IllegalArgumentException if the arguments give no name, or a name for locks of different modes or permits
     */
    List<Needed> needed(@Nullable Object target, @Nullable Object[] args) {
        EvaluationContext call = variables.in(target, args);
        TreeSet<Needed> needed = new TreeSet<>(Needed.GLOBAL_ORDER);
        for (LockDefinition definition : definitions) {
            for (Needed each : definition.neededIn(call)) {
                if (!needed.add(each)) {
                    Objects.requireNonNull(needed.floor(each)).requireSameKind(each);
                }
            }
        }
        return List.copyOf(needed);
    }

    /** Holds the locks until the method returns or, in an active transaction, until the transaction has ended. */
    @SuppressWarnings("NullAway") // the type argument allows null
    private @Nullable Object call(MethodInvocation invocation, Consumer<HeldLocks> acquired) throws Throwable {
        List<Needed> needed = needed(DistributedLockInterceptor.targetOf(invocation), invocation.getArguments());
        List<LockContext> wanted = wanted(needed);
        boolean inTransaction = isInTransaction(invocation);
        if (inTransaction) {
            warnOfTransaction(wanted);
        }
        HeldLocks held = HeldLocks.acquire(wanted);
        HeldLocks.Body<@Nullable Object, Throwable> body = () -> run(invocation, needed, held, acquired);
        return inTransaction && held.size() > 0 ? TransactionBoundLocks.run(held, body) : held.runAndRelease(body);
    }

    /** Whether the call belongs to an active transaction, whose end is reported. */
    static boolean isInTransaction(MethodInvocation invocation) {
        return isTransactionActive()
                && TransactionSynchronizationManager.isSynchronizationActive()
                && !TransactionBoundLocks.isSuspendedBehindTheLock(invocation);
    }

    private static boolean isTransactionActive() {
        return TRANSACTIONS_PRESENT && TransactionSynchronizationManager.isActualTransactionActive();
    }

    /** A lock that the thread already holds gives no warning: the thread does not wait for it. */
    private void warnOfTransaction(List<LockContext> wanted) {
        if (wanted.stream().anyMatch(each -> each.remainingLease().isZero()) && warned.compareAndSet(false, true)) {
            log.warn(method
                    + " acquires its lock inside an active transaction: it may not see changes that others committed while it"
                    + " waited, and the lock is held until that transaction ends."
                    + " Start the transaction after the lock is acquired");
        }
    }

    /** Holds the locks until the stage that the method returns completes. */
    private Object callAsync(MethodInvocation invocation, Consumer<HeldLocks> acquired) {
        try {
            List<Needed> needed = needed(DistributedLockInterceptor.targetOf(invocation), invocation.getArguments());
            List<LockContext> wanted = wanted(needed);
            return HeldLocks.<@Nullable Object>runAndReleaseAsync(
                    waits || InnerProxy.isOnThreadOfExecutor(invocation)
                            ? CompletableFuture.completedFuture(HeldLocks.acquire(wanted))
                            : HeldLocks.acquireAsync(wanted),
                    held -> stage(invocation, needed, held, acquired));
        } catch (RuntimeException refused) {
            return CompletableFuture.failedFuture(refused);
        }
    }

    @SuppressWarnings("unchecked") // the caller knows the type of its result
    private CompletionStage<@Nullable Object> stage(
            MethodInvocation invocation, List<Needed> needed, HeldLocks held, Consumer<HeldLocks> acquired) {
        try {
            Object stage = run(invocation, needed, held, acquired);
            return stage != null ? (CompletionStage<@Nullable Object>) stage : CompletableFuture.completedFuture(null);
        } catch (Throwable failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    static List<LockContext> wanted(List<Needed> needed) {
        return needed.stream().map(Needed::wanted).toList();
    }

    /** Runs the method's body under its locks. After a refusal, returns or throws what the annotation demands. */
    @SuppressWarnings("NullAway") // the type argument allows null
    @Nullable
    Object run(MethodInvocation invocation, List<Needed> needed, HeldLocks held, Consumer<HeldLocks> acquired)
            throws Throwable {
        acquired.accept(held);
        LockNotAcquiredException refusal = held.refusal();
        if (refusal != null) {
            return needed.get(held.refusedAt()).definition().resolve(invocation, refusal);
        }
        if (tokenParameter != null) {
            LockContext innermost = held.innermost();
            @Nullable Object[] args = invocation.getArguments().clone();
            args[tokenParameter] = innermost != null ? innermost.fencingToken() : null;
            ((ProxyMethodInvocation) invocation).setArguments(args);
        }
        // AspectJ advice gets its call from the thread, and this may not be the thread on which Spring set it.
        Object result = held.<@Nullable Object, Throwable>call(
                MethodLocks::isTransactionActive,
                () -> end == End.VALUE
                        ? invocation.proceed()
                        : ExposeInvocationInterceptor.INSTANCE.invoke(invocation));
        if (!suspends) {
            refuseHiddenWork(result);
        }
        return result;
    }

    /**
     * @throws InvalidLockDefinitionException if the result is work that the lock does not cover, behind a type that
     *     hides this
     */
    void refuseHiddenWork(@Nullable Object result) {
        if (mayHideWork && result != null) {
            LaterResult.refuse(method, result);
        }
    }
}
