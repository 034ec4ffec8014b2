package io.github.lockboot.autoconfigure;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import io.github.lockboot.internal.Failures;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.env.AbstractEnvironment;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * The server that is for locks only: that of {@code lock.redis.*}, or of a {@link ConnectionDetails} bean that is
 * qualified for locks.
 *
 * <p>Spring Boot's own auto-configuration makes the connection factory, from {@code lock.redis.*} in place of
 * {@code spring.data.redis.*}, so that the words mean the same. It does so in a context of its own: no bean of the
 * application sees that factory, and the application's factory neither backs off nor becomes one of two.
 */
final class OwnRedis implements AutoCloseable {

    static final String PROPERTIES = "lock.redis";

    private static final String OF_BOOT = "spring.data.redis.";
    private static final String RESOURCES = "io.lettuce.core.resource.ClientResources";

    private static final List<String> CONFIGURATIONS = List.of(
            "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration");

    private final @Nullable AnnotationConfigApplicationContext context;

    /** @param details take precedence over the address of the properties; null if there are none */
    OwnRedis(OwnRedisProperties properties, @Nullable ConnectionDetails details, ApplicationContext application) {
        if (details == null && properties.isSet()) {
            properties.requireOneAddress();
        }
        context = details != null || properties.isSet() ? contextOf(properties, details, application) : null;
    }

    private static AnnotationConfigApplicationContext contextOf(
            OwnRedisProperties properties, @Nullable ConnectionDetails details, ApplicationContext application) {
        SslBundles bundles = application.getBeanProvider(SslBundles.class).getIfUnique();
        properties.requireBundle(bundles == null ? List.of() : bundles.getBundleNames());
        ClassLoader classes = Objects.requireNonNull(application.getClassLoader());
        String configuration = CONFIGURATIONS.stream()
                .filter(name -> ClassUtils.isPresent(RESOURCES, classes) && ClassUtils.isPresent(name, classes))
                .findFirst()
                .orElseThrow(() -> new LockStartupException(
                        "lock.redis.* needs Lettuce and the auto-configuration of Spring Data Redis",
                        "add spring-boot-starter-data-redis"));
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.setDisplayName(PROPERTIES);
        context.setClassLoader(classes);
        context.setEnvironment(environment(application.getEnvironment()));
        ObjectProvider<?> resources = application.getBeanProvider(ClassUtils.resolveClassName(RESOURCES, classes));
        Stream.of(bundles, details, resources.getIfUnique())
                .filter(Objects::nonNull)
                .forEach(bean -> context.getBeanFactory()
                        .registerSingleton(bean.getClass().getName(), bean));
        context.register(ClassUtils.resolveClassName(configuration, classes));
        try {
            context.refresh();
            return context;
        } catch (RuntimeException failure) {
            throw new LockStartupException(
                    "No connection factory for locks can be made by lock.redis.* ("
                            + Failures.reasonOf(NestedExceptionUtils.getMostSpecificCause(failure)) + ")",
                    "correct these properties and what they refer to");
        }
    }

    private static ConfigurableEnvironment environment(Environment application) {
        ConfigurableEnvironment own = new AbstractEnvironment() {};
        // Its source is not the environment: Spring Boot would read that instead.
        own.getPropertySources().addFirst(new PropertySource<Object>(PROPERTIES) {
            @Override
            public @Nullable Object getProperty(String name) {
                String value = name.startsWith(OF_BOOT)
                        ? application.getProperty(PROPERTIES + "." + name.substring(OF_BOOT.length()))
                        : null;
                return "".equals(value) ? null : value;
            }
        });
        return own;
    }

    /** {@return the factory; null if locks have no server of their own} */
    @Nullable
    RedisConnectionFactory factory() {
        return context == null ? null : context.getBean(RedisConnectionFactory.class);
    }

    @Override
    public void close() {
        if (context != null) {
            context.close();
        }
    }
}
