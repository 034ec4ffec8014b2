package io.github.lockboot.aop;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

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
        ReactiveAdapter adapter = declared != null
                ? declared
                : Objects.requireNonNull(
                        ReactiveAdapterRegistry.getSharedInstance().getAdapter(Mono.class));
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
