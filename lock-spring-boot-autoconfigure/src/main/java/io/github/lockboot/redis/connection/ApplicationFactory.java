package io.github.lockboot.redis.connection;

import java.lang.reflect.Field;
import java.lang.reflect.Method;

import io.lettuce.core.AbstractRedisClient;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** What can be learned of the application's connection factory, which may be a proxy or a subclass. */
final class ApplicationFactory {

    private ApplicationFactory() {}

    /**
     * {@return the factory, if it is of Lettuce and gives its own connections and not those of another; null otherwise}
     */
    static @Nullable LettuceConnectionFactory ofLettuce(RedisConnectionFactory factory) {
        return factory instanceof LettuceConnectionFactory lettuce && !isOverridden(typeOf(factory), "getConnection")
                ? lettuce
                : null;
    }

    static Class<?> typeOf(RedisConnectionFactory factory) {
        return AopUtils.getTargetClass(factory);
    }

    static boolean isProxy(RedisConnectionFactory factory) {
        return factory instanceof Advised;
    }

    /**
     * {@return the factory behind proxies, whose fields are not those of the proxies} May block, as a scope may have to
     * make it.
     */
    static LettuceConnectionFactory targetOf(LettuceConnectionFactory factory) {
        Object target = factory;
        while (target instanceof Advised proxy) {
            target = targetOf(proxy.getTargetSource());
        }
        if (target instanceof LettuceConnectionFactory found) {
            return found;
        }
        throw unreadable(factory.getClass(), null);
    }

    private static @Nullable Object targetOf(TargetSource source) {
        try {
            Object target = source.getTarget();
            if (target != null && !source.isStatic()) {
                source.releaseTarget(target);
            }
            return target;
        } catch (Exception notFound) {
            throw unreadable(source.getClass(), notFound);
        }
    }

    /**
     * Checks that connections made with the settings go where those of the factory go.
     *
     * @throws IllegalStateException if that is not known
     */
    static RedisConfiguration requireSettings(LettuceConnectionFactory factory) {
        LettuceConnectionFactory target = targetOf(factory);
        Class<?> type = target.getClass();
        if (target instanceof SpringProxy
                || target != targetOf(factory)
                || isOverridden(type, "createClient")
                || isOverridden(type, "doCreateConnectionProvider")) {
            throw unreadable(type, null);
        }
        return settingsOf(target);
    }

    /**
     * Returns the configuration of the factory, read from its field. Not every topology has a getter, and the existing
     * ones silently fall back to localhost.
     */
    static RedisConfiguration settingsOf(LettuceConnectionFactory target) {
        Field field = ReflectionUtils.findField(LettuceConnectionFactory.class, "configuration");
        if (field != null) {
            ReflectionUtils.makeAccessible(field);
            if (ReflectionUtils.getField(field, target) instanceof RedisConfiguration settings) {
                return settings;
            }
        }
        throw unreadable(target.getClass(), null);
    }

    /** {@return the client, which is another after each start; null while the factory is stopped} */
    static @Nullable AbstractRedisClient clientOf(LettuceConnectionFactory target) {
        try {
            return target.isRunning() ? target.getNativeClient() : null;
        } catch (IllegalStateException stopped) {
            return null;
        }
    }

    static boolean isFixedList(LettuceConnectionFactory target) {
        return settingsOf(target) instanceof RedisStaticMasterReplicaConfiguration;
    }

    private static IllegalStateException unreadable(Class<?> type, @Nullable Throwable cause) {
        return new IllegalStateException(
                "the settings of the connection factory " + type.getName()
                        + " cannot be read: it is a proxy that hides its"
                        + " target or has another at each call, it makes its client itself, or this version of Spring Data"
                        + " Redis does not show them; annotate a LettuceConnectionFactory bean with"
                        + " @Qualifier(\"distributedLock\"), and locks use its connections",
                cause);
    }

    /** By a subclass that has been written, and not by the class of a proxy. */
    private static boolean isOverridden(Class<?> type, String name) {
        Method method = ReflectionUtils.findMethod(ClassUtils.getUserClass(type), name, (Class<?>[]) null);
        return method != null && method.getDeclaringClass() != LettuceConnectionFactory.class;
    }
}
