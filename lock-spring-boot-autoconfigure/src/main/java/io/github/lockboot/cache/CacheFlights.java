package io.github.lockboot.cache;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.lockboot.LockOptions;
import io.github.lockboot.LockTemplate;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopConfigException;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.cache.Cache;
import org.springframework.cache.CacheManager;

/**
 * Replaces each cache manager by a proxy, whose caches run their loaders by single flight. A proxy extends the class
 * where it can, so that a manager or cache can still be injected and recognized by its type.
 */
public final class CacheFlights implements BeanPostProcessor {

    private static final String ALL = "*";

    private final Supplier<Settings> settings;
    private final Supplier<LockTemplate> locks;

    /**
     * What the properties say.
     *
     * @param names of the caches, or an asterisk
     * @param loadsWithoutLock whether a loader runs if the lock is unavailable
     * @param options of the locks
     */
    public record Settings(Set<String> names, boolean loadsWithoutLock, LockOptions options) {}

    /**
     * Both are asked for as late as possible, because a post-processor is created before other beans.
     *
     * @param settings asked for with the first cache manager
     * @param locks asked for with the first call of a cache
     */
    public CacheFlights(Supplier<Settings> settings, Supplier<LockTemplate> locks) {
        this.settings = settings;
        this.locks = locks;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (!(bean instanceof CacheManager)) {
            return bean;
        }
        Settings current = settings.get();
        Map<String, Cache> proxies = new ConcurrentHashMap<>();
        return proxy(bean, call -> {
            Object result = call.proceed();
            if (!(result instanceof Cache cache)
                    || !current.names.contains(cache.getName()) && !current.names.contains(ALL)) {
                return result;
            }
            Cache known = proxies.get(cache.getName());
            return known != null && (known == cache || AopProxyUtils.getSingletonTarget(known) == cache)
                    ? known
                    : proxies.compute(cache.getName(), (name, other) -> inFlights(cache, other, current));
        });
    }

    /** A manager may decorate a cache at each call, or make another one of that name. */
    private Cache inFlights(Cache cache, @Nullable Cache other, Settings current) {
        if (other != null && Sharing.target(other) == Sharing.target(cache)) {
            return other;
        }
        return Sharing.isLocal(cache) || Sharing.isOff(cache) || isInFlights(cache)
                ? cache
                : (Cache) proxy(cache, new CacheFlight(cache, current, locks));
    }

    /** Whether the manager got it from another one, whose proxy it is, or has decorated that. */
    private static boolean isInFlights(Cache cache) {
        return Sharing.layers(cache)
                .filter(Advised.class::isInstance)
                .flatMap(layer -> Stream.of(((Advised) layer).getAdvisors()))
                .anyMatch(advisor -> advisor.getAdvice() instanceof CacheFlight);
    }

    /** {@return a proxy that extends the class, or has the interfaces of one that cannot be extended} */
    private static Object proxy(Object target, MethodInterceptor advice) {
        ProxyFactory proxies = new ProxyFactory(target);
        proxies.addAdvice(advice);
        proxies.setProxyTargetClass(true);
        try {
            return proxies.getProxy();
        } catch (AopConfigException isFinal) {
            proxies.setProxyTargetClass(false);
            return proxies.getProxy();
        }
    }

    /**
     * Refuses properties without effect. May create a cache, as its first use would.
     *
     * @param managers all cache managers
     * @throws IllegalStateException if a named cache does not exist or is not shared, or if none of all is; the message
     *     is the problem, a semicolon, and the action
     */
    public void check(Collection<CacheManager> managers) {
        Set<String> names = settings.get().names();
        if (managers.isEmpty() && !names.isEmpty()) {
            throw new IllegalStateException("there is no CacheManager bean, but lock.cache.sync is set; add"
                    + " @EnableCaching and a cache that instances share, or remove the property");
        }
        for (String name : names) {
            List<?> candidates = (name.equals(ALL) ? all(managers) : named(name, managers)).toList();
            if (candidates.isEmpty()) {
                throw new IllegalStateException("no CacheManager has the cache '" + name
                        + "' of lock.cache.sync; correct the name, or remove it from the property");
            }
            if (candidates.stream().allMatch(Sharing::isLocal)) {
                throw new IllegalStateException("cache '" + name + "' of lock.cache.sync is of a kind that instances"
                        + " do not share, "
                        + Sharing.target(candidates.get(0)).getClass().getSimpleName()
                        + "; remove it from the property, or use a cache such as that of Spring Data Redis");
            }
        }
    }

    /** The manager itself as long as it has none. */
    private static Stream<?> all(Collection<CacheManager> managers) {
        return managers.stream().flatMap(manager -> {
            Collection<String> names = manager.getCacheNames();
            return names.isEmpty() ? Stream.of(manager) : names.stream().map(manager::getCache);
        });
    }

    /** Managers that do not have the name are asked if none has it: they may create a cache of any name. */
    private static Stream<?> named(String name, Collection<CacheManager> managers) {
        List<CacheManager> having = managers.stream()
                .filter(manager -> manager.getCacheNames().contains(name))
                .toList();
        return (having.isEmpty() ? managers : having)
                .stream().flatMap(manager -> Stream.ofNullable(manager.getCache(name)));
    }
}
