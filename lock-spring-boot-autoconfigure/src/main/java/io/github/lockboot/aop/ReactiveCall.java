package io.github.lockboot.aop;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;

import io.github.lockboot.HeldLocks;
import io.github.lockboot.LockContext;
import io.github.lockboot.aop.LockDefinition.Needed;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Takes the locks at each subscription, and releases them when the publisher completes, fails or is cancelled. */
final class ReactiveCall {

    private ReactiveCall() {}

    /** @param declared the adapter of the result; null for a suspending function, which returns a {@code Mono} instead */
    static Object of(LockedCall call, MethodInvocation invocation, @Nullable ReactiveAdapter declared) {
        ReactiveAdapter adapter = adapterFor(declared);
        Flux<Object> many = Flux.defer(() -> {
            List<Needed> needed = call.needed(invocation.getThis(), invocation.getArguments());
            // usingWhen would wrap the failure of a release after success.
            AtomicReference<Throwable> loss = new AtomicReference<>();
            return Flux.usingWhen(
                            Mono.fromFuture(LockedCall.takeAsync(needed))
                                    .doOnDiscard(HeldLocks.class, held -> held.releaseLater(false)),
                            held -> body(call, invocation, adapter, needed, held),
                            held -> Mono.fromFuture(held.releaseLater(true))
                                    .doOnError(loss::set)
                                    .onErrorComplete(),
                            (held, failure) -> Mono.fromFuture(held.releaseLaterAfter(failure)),
                            held -> Mono.fromFuture(held.releaseLater(false), true))
                    .concatWith(Mono.defer(() -> loss.get() == null ? Mono.empty() : Mono.error(loss.get())));
        });
        return adapter.fromPublisher(adapter.isMultiValue() ? many : many.singleOrEmpty());
    }

    /**
     * As {@link #of}, for a call of which each subscription is watched.
     *
     * @param begin gets the invocation of a subscription, and returns what gets its failure at the end; null for success
     */
    static Object watched(
            LockedCall call,
            MethodInvocation invocation,
            @Nullable ReactiveAdapter declared,
            Function<MethodInvocation, Consumer<@Nullable Throwable>> begin) {
        ReactiveAdapter adapter = adapterFor(declared);
        Flux<Object> many = Flux.defer(() -> {
            MethodInvocation own = ((ProxyMethodInvocation) invocation).invocableClone();
            Consumer<@Nullable Throwable> end = begin.apply(own);
            return Flux.from(adapter.toPublisher(of(call, own, declared)))
                    .doOnComplete(() -> end.accept(null))
                    .doOnError(end::accept)
                    .doOnCancel(() -> end.accept(new CancellationException()));
        });
        return adapter.fromPublisher(adapter.isMultiValue() ? many : many.singleOrEmpty());
    }

    private static ReactiveAdapter adapterFor(@Nullable ReactiveAdapter declared) {
        return declared != null
                ? declared
                : Objects.requireNonNull(
                        ReactiveAdapterRegistry.getSharedInstance().getAdapter(Mono.class));
    }

    private static Flux<Object> body(
            LockedCall call,
            MethodInvocation invocation,
            ReactiveAdapter adapter,
            List<Needed> needed,
            HeldLocks held) {
        // The next subscription uses the invocation again.
        MethodInvocation own = ((ProxyMethodInvocation) invocation).invocableClone();
        LockContext innermost = held.innermost();
        try {
            Flux<Object> body = Flux.from(adapter.toPublisher(call.run(own, needed, held)));
            return innermost != null ? body.contextWrite(context -> context.put(LockContext.class, innermost)) : body;
        } catch (Throwable failure) {
            return Flux.error(failure);
        }
    }
}
