package io.github.lockboot.aop;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
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
final class ReactiveCall {

    private ReactiveCall() {}

    static Object of(MethodLocks call, MethodInvocation invocation) {
        return perSubscription(call, adapter -> locked(call, invocation, adapter, held -> {}));
    }

    /** As {@link #of}; each subscription is a call of the job. */
    static Object ofJob(MethodLocks call, MethodInvocation invocation, Supplier<ScheduledCall.Tick> ticks) {
        return perSubscription(call, adapter -> {
            ScheduledCall.Tick tick = ticks.get();
            return Flux.defer(() -> locked(call, invocation, adapter, tick::acquired))
                    .doOnComplete(() -> tick.ended(null))
                    .doOnError(tick::ended)
                    .doOnCancel(() -> tick.ended(new CancellationException()));
        });
    }

    private static Object perSubscription(MethodLocks call, Function<ReactiveAdapter, Flux<Object>> subscription) {
        ReactiveAdapter adapter = adapterOf(call);
        Flux<Object> many = Flux.defer(() -> subscription.apply(adapter));
        return adapter.fromPublisher(adapter.isMultiValue() ? many : many.singleOrEmpty());
    }

    /** Spring has a {@code Flux} for the {@code Flow} of a suspending function, and a {@code Mono} for what any other returns. */
    private static ReactiveAdapter adapterOf(MethodLocks call) {
        ReactiveAdapter declared = call.adapter;
        if (declared != null && !call.suspends) {
            return declared;
        }
        Class<?> given = declared != null ? Flux.class : Mono.class;
        return Objects.requireNonNull(
                ReactiveAdapterRegistry.getSharedInstance().getAdapter(given));
    }

    private static Flux<Object> locked(
            MethodLocks call, MethodInvocation invocation, ReactiveAdapter adapter, Consumer<HeldLocks> acquired) {
        List<Needed> needed = call.needed(invocation.getThis(), invocation.getArguments());
        // usingWhen would wrap the failure of a release after success.
        AtomicReference<Throwable> loss = new AtomicReference<>();
        return Flux.usingWhen(
                        Mono.fromFuture(HeldLocks.acquireAsync(MethodLocks.wanted(needed)))
                                .doOnDiscard(HeldLocks.class, held -> held.releaseLater(false)),
                        held -> {
                            acquired.accept(held);
                            return body(call, invocation, adapter, needed, held);
                        },
                        held -> Mono.fromFuture(held.releaseLater(true))
                                .doOnError(loss::set)
                                .onErrorComplete(),
                        (held, failure) -> Mono.fromFuture(held.releaseLaterAfter(failure)),
                        // A loss would reach only Reactor's log, with the name of the lock.
                        held -> Mono.fromFuture(held.releaseLater(false), true).onErrorComplete())
                .concatWith(Mono.defer(() -> loss.get() == null ? Mono.empty() : Mono.error(loss.get())));
    }

    private static Flux<Object> body(
            MethodLocks call,
            MethodInvocation invocation,
            ReactiveAdapter adapter,
            List<Needed> needed,
            HeldLocks held) {
        // The next subscription uses the invocation again.
        MethodInvocation own = ((ProxyMethodInvocation) invocation).invocableClone();
        LockContext innermost = held.innermost();
        try {
            Object result = call.run(own, needed, held);
            Flux<Object> body = Flux.from(publisherOf(call, result, adapter)).doOnNext(call::refuseHiddenWork);
            return innermost != null ? body.contextWrite(context -> context.put(LockContext.class, innermost)) : body;
        } catch (Throwable failure) {
            return Flux.error(failure);
        }
    }

    /** For a suspending function that was skipped, the result may be a value: an empty Optional, or that of a fallback. */
    private static Publisher<Object> publisherOf(MethodLocks call, @Nullable Object result, ReactiveAdapter adapter) {
        if (!call.suspends) {
            return adapter.toPublisher(result);
        }
        ReactiveAdapter given = result != null ? LockedMethod.adapterOf(result.getClass()) : null;
        return given != null ? given.toPublisher(result) : Mono.justOrEmpty(result);
    }
}
