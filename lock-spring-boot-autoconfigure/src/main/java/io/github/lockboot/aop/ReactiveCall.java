package io.github.lockboot.aop;

import io.github.lockboot.LockContext;
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
        Mono<Attempt> acquisition = Mono.defer(() -> Mono.fromFuture(AsyncAcquisition.begin(call.wanted(invocation))))
                .doOnDiscard(HeldLocks.class, held -> held.releaseLater(false));
        if (adapter == null) {
            return once(acquisition, call, invocation);
        }
        return adapter.fromPublisher(
                adapter.isMultiValue() ? often(acquisition, call, invocation) : once(acquisition, call, invocation));
    }

    private Mono<?> once(Mono<Attempt> acquisition, LockedCall call, MethodInvocation invocation) {
        return Mono.usingWhen(
                        acquisition,
                        attempt -> Mono.from(body(call, invocation, attempt))
                                .contextWrite(context -> tell(context, attempt)),
                        ReactiveCall::release,
                        ReactiveCall::releaseAfter,
                        ReactiveCall::releaseCancelled)
                .onErrorMap(ReleaseFailure::unwrap);
    }

    private Flux<?> often(Mono<Attempt> acquisition, LockedCall call, MethodInvocation invocation) {
        return Flux.usingWhen(
                        acquisition,
                        attempt -> Flux.from(body(call, invocation, attempt))
                                .contextWrite(context -> tell(context, attempt)),
                        ReactiveCall::release,
                        ReactiveCall::releaseAfter,
                        ReactiveCall::releaseCancelled)
                .onErrorMap(ReleaseFailure::unwrap);
    }

    private Publisher<?> body(LockedCall call, MethodInvocation invocation, Attempt attempt) {
        // The invocation is used again by the next subscription.
        MethodInvocation own = ((ProxyMethodInvocation) invocation).invocableClone();
        try {
            Object result = attempt instanceof Attempt.Refusal refusal
                    ? refusal.resolve(own)
                    : call.proceed(own, (HeldLocks) attempt);
            if (adapter != null) {
                return adapter.toPublisher(result);
            }
            return result != null ? (Publisher<?>) result : Mono.empty();
        } catch (Throwable failure) {
            return Mono.error(failure);
        }
    }

    private static Context tell(Context context, Attempt attempt) {
        LockContext innermost = attempt instanceof HeldLocks held ? held.innermost() : null;
        return innermost != null ? context.put(LockContext.class, innermost) : context;
    }

    private static Mono<Void> release(Attempt attempt) {
        return Mono.fromFuture(() -> attempt.releaseLater(true)).onErrorMap(ReleaseFailure::new);
    }

    private static Mono<Void> releaseAfter(Attempt attempt, Throwable failure) {
        return attempt instanceof HeldLocks held
                ? Mono.fromFuture(() -> held.releaseLaterAfter(failure))
                : Mono.empty();
    }

    private static Mono<Void> releaseCancelled(Attempt attempt) {
        return Mono.fromFuture(() -> attempt.releaseLater(false), true);
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
