package io.github.lockboot.aop;

import java.util.List;

import io.github.lockboot.HeldLocks;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockSet;
import io.github.lockboot.aop.LockDefinition.Needed;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.core.ReactiveAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/** All locks of a subscription, held until the publisher completes, fails or is cancelled that the method returns. */
final class ReactiveCall implements CallStrategy {

    private final @Nullable ReactiveAdapter adapter;

    /** @param adapter of the method's return type; null for a suspending function, which comes as a {@code Mono} */
    ReactiveCall(@Nullable ReactiveAdapter adapter) {
        this.adapter = adapter;
    }

    @Override
    public Object invoke(LockedCall call, MethodInvocation invocation) {
        Mono<Taken> taking = Mono.defer(() -> {
                    List<Needed> needed = call.needed(invocation);
                    return Mono.fromFuture(LockSet.takeAsync(Needed.locks(needed, true)))
                            .map(held -> new Taken(needed, held));
                })
                .doOnDiscard(HeldLocks.class, held -> held.releaseLater(false));
        if (adapter == null) {
            return once(taking, call, invocation);
        }
        return adapter.fromPublisher(
                adapter.isMultiValue() ? often(taking, call, invocation) : once(taking, call, invocation));
    }

    /** What a call needs, and what came of taking it. */
    private record Taken(List<Needed> needed, HeldLocks held) {}

    private static Context tell(Context context, Taken taken) {
        LockContext innermost = taken.held.innermost();
        return innermost != null ? context.put(LockContext.class, innermost) : context;
    }

    private static Mono<Void> release(Taken taken) {
        return Mono.fromFuture(() -> taken.held.releaseLater(true)).onErrorMap(ReleaseFailure::new);
    }

    private static Mono<Void> releaseAfter(Taken taken, Throwable failure) {
        return Mono.fromFuture(() -> taken.held.releaseLaterAfter(failure));
    }

    private static Mono<Void> releaseCancelled(Taken taken) {
        return Mono.fromFuture(() -> taken.held.releaseLater(false), true);
    }

    private Mono<?> once(Mono<Taken> taking, LockedCall call, MethodInvocation invocation) {
        return Mono.usingWhen(
                        taking,
                        taken -> Mono.from(body(call, invocation, taken)).contextWrite(context -> tell(context, taken)),
                        ReactiveCall::release,
                        ReactiveCall::releaseAfter,
                        ReactiveCall::releaseCancelled)
                .onErrorMap(ReleaseFailure::unwrap);
    }

    private Flux<?> often(Mono<Taken> taking, LockedCall call, MethodInvocation invocation) {
        return Flux.usingWhen(
                        taking,
                        taken -> Flux.from(body(call, invocation, taken)).contextWrite(context -> tell(context, taken)),
                        ReactiveCall::release,
                        ReactiveCall::releaseAfter,
                        ReactiveCall::releaseCancelled)
                .onErrorMap(ReleaseFailure::unwrap);
    }

    private Publisher<?> body(LockedCall call, MethodInvocation invocation, Taken taken) {
        // The invocation is used again by the next subscription.
        MethodInvocation own = ((ProxyMethodInvocation) invocation).invocableClone();
        try {
            Object result = call.run(own, taken.needed, taken.held);
            if (adapter != null) {
                return adapter.toPublisher(result);
            }
            return result != null ? (Publisher<?>) result : Mono.empty();
        } catch (Throwable failure) {
            return Mono.error(failure);
        }
    }

    /** Marks what a release after success threw, because Reactor wraps it. */
    private static final class ReleaseFailure extends RuntimeException {

        private static final long serialVersionUID = 1L;

        ReleaseFailure(Throwable cause) {
            super(null, cause, false, false);
        }

        static Throwable unwrap(Throwable failure) {
            return failure.getCause() instanceof ReleaseFailure marker && marker.getCause() != null
                    ? marker.getCause()
                    : failure;
        }
    }
}
