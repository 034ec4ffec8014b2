package io.github.lockboot.aop;

import java.util.List;

import io.github.lockboot.HeldLocks;
import io.github.lockboot.LockContext;
import io.github.lockboot.aop.LockDefinition.Needed;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.core.ReactiveAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** All locks of a subscription, held until the publisher completes, fails or is cancelled that the method returns. */
final class ReactiveCall {

    private ReactiveCall() {}

    /** @param adapter of the method's return type; null for a suspending function, which comes as a {@code Mono} */
    static Object of(LockedCall call, MethodInvocation invocation, @Nullable ReactiveAdapter adapter) {
        Flux<Object> many = Flux.defer(() -> {
            List<Needed> needed = call.needed(invocation.getThis(), invocation.getArguments());
            return Flux.usingWhen(
                            Mono.fromFuture(LockedCall.takeAsync(needed))
                                    .doOnDiscard(HeldLocks.class, held -> held.releaseLater(false)),
                            held -> body(call, invocation, adapter, needed, held),
                            held -> Mono.fromFuture(held.releaseLater(true)).onErrorMap(ReleaseFailure::new),
                            (held, failure) -> Mono.fromFuture(held.releaseLaterAfter(failure)),
                            held -> Mono.fromFuture(held.releaseLater(false), true))
                    .onErrorMap(ReactiveCall::withoutMark);
        });
        if (adapter == null) {
            return many.singleOrEmpty();
        }
        return adapter.fromPublisher(adapter.isMultiValue() ? many : many.singleOrEmpty());
    }

    private static Flux<Object> body(
            LockedCall call,
            MethodInvocation invocation,
            @Nullable ReactiveAdapter adapter,
            List<Needed> needed,
            HeldLocks held) {
        // The invocation is used again by the next subscription.
        MethodInvocation own = ((ProxyMethodInvocation) invocation).invocableClone();
        try {
            Object result = call.run(own, needed, held);
            Publisher<?> body;
            if (adapter != null) {
                body = adapter.toPublisher(result);
            } else {
                body = result != null ? (Publisher<?>) result : Mono.empty();
            }
            LockContext innermost = held.innermost();
            Flux<Object> values = Flux.from(body);
            return innermost != null
                    ? values.contextWrite(context -> context.put(LockContext.class, innermost))
                    : values;
        } catch (Throwable failure) {
            return Flux.error(failure);
        }
    }

    private static Throwable withoutMark(Throwable failure) {
        return failure.getCause() instanceof ReleaseFailure marked && marked.getCause() != null
                ? marked.getCause()
                : failure;
    }

    /** Marks what a release after success threw, because Reactor wraps it. */
    private static final class ReleaseFailure extends RuntimeException {

        private static final long serialVersionUID = 1L;

        ReleaseFailure(Throwable cause) {
            super(null, cause, false, false);
        }
    }
}
