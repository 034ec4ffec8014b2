package io.github.lockboot.cache;

import java.lang.reflect.Method;
import java.util.Objects;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.util.ReflectionUtils;

/** Whether instances share a cache, by the names of classes that may be absent. */
final class Sharing {

    private Sharing() {}

    /** Whether each instance has its own. */
    static boolean isLocal(Object cacheOrManager) {
        String type = target(cacheOrManager).getClass().getName();
        return type.matches("org\\.(springframework\\.cache\\.(concurrent|caffeine)|cache2k\\.extra\\.spring)\\..*");
    }

    /** Whether nothing is stored, as where an application or a test turns caches off. */
    static boolean isOff(Object cache) {
        return target(cache).getClass().getName().startsWith("org.springframework.cache.support.NoOp");
    }

    static Object target(Object cacheOrManager) {
        return layers(cacheOrManager).reduce(cacheOrManager, (outer, inner) -> inner);
    }

    /** {@return it, and what is inside its proxies and decorators, such as those that put after the commit} */
    static Stream<Object> layers(Object cacheOrManager) {
        return Stream.<@Nullable Object>iterate(cacheOrManager, Objects::nonNull, Sharing::inner);
    }

    private static @Nullable Object inner(Object outer) {
        Object proxied = AopProxyUtils.getSingletonTarget(outer);
        Method decorated = ReflectionUtils.findMethod(outer.getClass(), "getTargetCache");
        return proxied != null || decorated == null ? proxied : ReflectionUtils.invokeMethod(decorated, outer);
    }
}
