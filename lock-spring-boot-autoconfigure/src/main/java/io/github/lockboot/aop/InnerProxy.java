package io.github.lockboot.aop;

import java.lang.reflect.Method;
import java.util.stream.Stream;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.ReactiveAdapter;
import reactor.core.publisher.Flux;
import reactor.util.context.ContextView;

/**
 * With two proxy creators, a bean is behind a proxy within a proxy. The outer proxy acquires the locks, so that the
 * transactions and caches of both are inside them. This is its last advice, and marks the call for the inner proxy,
 * which then acquires none. A scheduler or listener container may have the inner proxy itself: such a call has no mark.
 */
final class InnerProxy implements MethodInterceptor {

    /** The proxy that is called under the locks of an outer one. */
    private static final ThreadLocal<@Nullable Object> MARKED = new ThreadLocal<>();

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object inner = proxiesIn(invocation)
                .filter(each -> Stream.of(each.getAdvisors()).anyMatch(InnerProxy::isOfLocks))
                .findFirst()
                .orElse(null);
        return inner == null || changesThread(invocation) ? invocation.proceed() : proceed(invocation, inner);
    }

    /** Whether an outer proxy has acquired the locks. */
    static boolean isMarked(MethodInvocation invocation) {
        return isMarked(invocation, MARKED.get());
    }

    private static boolean isMarked(MethodInvocation invocation, @Nullable Object marked) {
        return marked != null && marked == ((ProxyMethodInvocation) invocation).getProxy();
    }

    /** Proceeds, on this thread and at each subscription to the result, with this mark or without one. */
    static @Nullable Object proceed(MethodInvocation invocation, @Nullable Object marked) throws Throwable {
        Object before = MARKED.get();
        MARKED.set(marked);
        try {
            Object result = invocation.proceed();
            ReactiveAdapter adapter = result != null ? LockedMethod.adapterOf(result.getClass()) : null;
            return result != null && adapter != null ? Subscriptions.marked(result, adapter, marked) : result;
        } finally {
            if (before != null) {
                MARKED.set(before);
            } else {
                MARKED.remove();
            }
        }
    }

    /** Whether an inner proxy runs the method on another thread, and acquires the locks there. */
    static boolean changesThread(MethodInvocation invocation) {
        return invocation.getThis() instanceof Advised
                && advisorsIn(invocation).anyMatch(InnerProxy::isOfLocks)
                && advisorsIn(invocation)
                        .takeWhile(each -> !isOfLocks(each))
                        .anyMatch(each -> isAsync(each, invocation));
    }

    /**
     * Whether this is a thread of an executor, on which an outer advice runs the method, whatever its annotation is.
     */
    static boolean isOnThreadOfExecutor(MethodInvocation invocation) {
        return invocation instanceof ProxyMethodInvocation call
                && call.getProxy() instanceof Advised proxy
                && Stream.of(proxy.getAdvisors())
                        .takeWhile(each -> !isOfLocks(each))
                        .anyMatch(each -> isAsync(each, invocation));
    }

    private static boolean isAsync(Advisor advisor, MethodInvocation invocation) {
        return advisor.getAdvice() instanceof AsyncExecutionInterceptor
                && applies(advisor, invocation.getMethod(), targetOf(invocation));
    }

    static boolean isOfLocks(Advisor advisor) {
        return advisor.getAdvice() instanceof Locking;
    }

    static boolean applies(Advisor advisor, Method method, @Nullable Object target) {
        if (target == null || !(advisor instanceof PointcutAdvisor conditional)) {
            return false;
        }
        Class<?> type = AopUtils.getTargetClass(target);
        return conditional.getPointcut().getClassFilter().matches(type)
                && conditional.getPointcut().getMethodMatcher().matches(method, type);
    }

    /** The advisors of the proxies within the one that is called. */
    static Stream<Advisor> advisorsIn(MethodInvocation invocation) {
        return proxiesIn(invocation).flatMap(each -> Stream.of(each.getAdvisors()));
    }

    private static Stream<Advised> proxiesIn(MethodInvocation invocation) {
        return Stream.iterate(invocation.getThis(), Advised.class::isInstance, AopProxyUtils::getSingletonTarget)
                .map(Advised.class::cast);
    }

    /** {@return the bean behind all its locked proxies; null if there is none} */
    static @Nullable Object targetOf(MethodInvocation invocation) {
        @Nullable Object target = invocation.getThis();
        while (target instanceof Advised inner
                && Stream.of(inner.getAdvisors()).anyMatch(InnerProxy::isOfLocks)
                && AopProxyUtils.getSingletonTarget(inner) != null) {
            target = AopProxyUtils.getSingletonTarget(inner);
        }
        return target;
    }

    /** The advice that acquires the locks. */
    interface Locking extends MethodInterceptor {}

    /** The last advisor of a proxy around another one that has the same locks. */
    static final class Mark extends DefaultPointcutAdvisor {

        private static final long serialVersionUID = 1L;

        Mark() {
            super(new LockedProxies(), new InnerProxy());
        }
    }

    /** They match proxies, not the beans themselves. */
    private static final class LockedProxies extends StaticMethodMatcherPointcut {

        LockedProxies() {
            setClassFilter(type -> SpringProxy.class.isAssignableFrom(type) && LockAnnotations.areAnywhereIn(type));
        }

        @Override
        public boolean matches(Method method, Class<?> targetClass) {
            return !LockAnnotations.find(method, targetClass).isEmpty();
        }
    }

    /** A publisher may be made or subscribed to on another thread, and has the mark in its context. */
    static final class Subscriptions {

        /** Kotlin merges the context of a coroutine with that of its caller, so that a key cannot be removed. */
        private static final Object NONE = new Object();

        private Subscriptions() {}

        static Object marked(Object publisher, ReactiveAdapter adapter, @Nullable Object inner) {
            Object mark = inner != null ? inner : NONE;
            return as(
                    adapter,
                    Flux.<Object>from(adapter.toPublisher(publisher))
                            .contextWrite(context -> context.put(InnerProxy.class, mark)));
        }

        static boolean isMarked(MethodInvocation invocation, ContextView context) {
            return InnerProxy.isMarked(invocation, context.getOrDefault(InnerProxy.class, null));
        }

        static Object as(ReactiveAdapter adapter, Flux<Object> many) {
            return adapter.fromPublisher(adapter.isMultiValue() ? many : many.singleOrEmpty());
        }
    }
}
