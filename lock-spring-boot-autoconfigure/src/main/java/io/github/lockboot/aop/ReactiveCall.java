package io.github.lockboot.aop;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.lockboot.HeldLocks;
import io.github.lockboot.LockContext;
import io.github.lockboot.aop.LockDefinition.Needed;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Acquires the locks at each subscription, and releases them when the publisher completes, fails or is cancelled. */
record ReactiveCall(MethodLocks call, MethodInvocation invocation, ReactiveAdapter adapter) {

    ReactiveCall(MethodLocks call, MethodInvocation invocation) {
        this(call, invocation, adapterOf(call));
    }

    Object publisher() {
        return perSubscription(() -> locked(held -> {}));
    }

    /** As {@link #publisher()}; each subscription is a call of the job. */
    Object publisher(Supplier<ScheduledCall.Tick> ticks) {
        return perSubscription(() -> {
            ScheduledCall.Tick tick = ticks.get();
            return Flux.defer(() -> locked(tick::acquired))
                    .doOnComplete(() -> tick.ended(null))
                    .doOnError(tick::ended)
                    .doOnCancel(() -> tick.ended(new CancellationException()))
                    .onErrorResume(tick::didNotGetLocks, failure -> publisherOf(tick.skipped()));
        });
    }

    private Object perSubscription(Supplier<Flux<Object>> subscription) {
        return InnerProxy.Subscriptions.as(
                adapter,
                Flux.deferContextual(context -> InnerProxy.Subscriptions.isMarked(invocation, context)
                        ? underOuterLocks()
                        : subscription.get()));
    }

    private Flux<Object> underOuterLocks() {
        try {
            return Flux.from(publisherOf(InnerProxy.proceed(ownInvocation(), null)));
        } catch (Throwable failure) {
            return Flux.error(failure);
        }
    }

    /** The next subscription uses the invocation again. */
    private MethodInvocation ownInvocation() {
        return ((ProxyMethodInvocation) invocation).invocableClone();
    }

    /**
     * Spring has a {@code Flux} for the {@code Flow} of a suspending function, and a {@code Mono} for what any other
     * returns.
     */
    private static ReactiveAdapter adapterOf(MethodLocks call) {
        ReactiveAdapter declared = call.adapter;
        if (declared != null && !call.suspends) {
            return declared;
        }
        Class<?> given = declared != null ? Flux.class : Mono.class;
        return Objects.requireNonNull(
                ReactiveAdapterRegistry.getSharedInstance().getAdapter(given));
    }

    private Flux<Object> locked(Consumer<HeldLocks> acquired) {
        List<Needed> needed = call.needed(InnerProxy.targetOf(invocation), invocation.getArguments());
        // usingWhen would wrap the failure of a release after success.
        AtomicReference<Throwable> loss = new AtomicReference<>();
        return Flux.usingWhen(
                        Mono.fromFuture(HeldLocks.acquireAsync(MethodLocks.wanted(needed)))
                                .doOnDiscard(HeldLocks.class, held -> held.releaseLater(false)),
                        held -> body(needed, held, acquired),
                        held -> Mono.fromFuture(held.releaseLater(true))
                                .doOnError(loss::set)
                                .onErrorComplete(),
                        (held, failure) -> Mono.fromFuture(held.releaseLaterAfter(failure)),
                        // A loss would reach only Reactor's log, with the name of the lock.
                        held -> Mono.fromFuture(held.releaseLater(false), true).onErrorComplete())
                .concatWith(Mono.defer(() -> loss.get() == null ? Mono.empty() : Mono.error(loss.get())));
    }

    private Flux<Object> body(List<Needed> needed, HeldLocks held, Consumer<HeldLocks> acquired) {
        LockContext innermost = held.innermost();
        try {
            Object result = call.run(ownInvocation(), needed, held, acquired);
            Flux<Object> body = Flux.from(publisherOf(result)).doOnNext(call::refuseHiddenWork);
            return innermost != null ? body.contextWrite(context -> context.put(LockContext.class, innermost)) : body;
        } catch (Throwable failure) {
            return Flux.error(failure);
        }
    }

    /**
     * For a suspending function that was skipped, the result may be a value: an empty Optional, or that of a fallback.
     */
    private Publisher<Object> publisherOf(@Nullable Object result) {
        if (!call.suspends) {
            return adapter.toPublisher(result);
        }
        ReactiveAdapter given = result != null ? LockedMethod.adapterOf(result.getClass()) : null;
        return given != null ? given.toPublisher(result) : Mono.justOrEmpty(result);
    }
}
