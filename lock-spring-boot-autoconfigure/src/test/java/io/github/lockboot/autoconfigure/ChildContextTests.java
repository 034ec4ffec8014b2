package io.github.lockboot.autoconfigure;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LogReader;
import io.github.lockboot.OwnThread;
import io.github.lockboot.RecordingLockRegistry;
import io.github.lockboot.internal.Troubleshooting;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/** Beans of a context whose parent has the locks, such as that of a Feign client or of a management server. */
@OwnThread
class ChildContextTests {

    private final RecordingLockRegistry registry = new RecordingLockRegistry();

    private final ApplicationContextRunner parent = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean(RecordingLockRegistry.class, () -> registry);

    @Test
    void aBeanThatNoProxyLocksIsNamed() {
        parent.run(context -> {
            try (LogReader log = new LogReader();
                    var child = child(context, Plain.class)) {
                child.getBean(Orders.class).pay();
                assertThat(registry.names()).isEmpty();
                assertThat(log.warnings())
                        .containsExactly("@DistributedLock has no effect on " + Orders.class.getName()
                                + ".pay(), because bean 'orders' is in a child context without LockAutoConfiguration."
                                + " Import it there, or move the bean to the parent context; see "
                                + Troubleshooting.PAGE + "a-bean-of-a-child-context-is-not-locked");
            }
        });
    }

    @ParameterizedTest
    @ValueSource(classes = {WithTheAutoConfiguration.class, WithProxies.class})
    void aBeanThatIsLockedIsNot(Class<?> configuration) {
        parent.run(context -> {
            try (LogReader log = new LogReader();
                    var child = child(context, configuration);
                    var grandchild = child(child, Plain.class, configuration)) {
                child.getBean(Orders.class).pay();
                grandchild.getBean(Orders.class).pay();
                assertThat(registry.names()).containsExactly("orders", "orders");
                assertThat(log.warnings()).isEmpty();
            }
        });
    }

    private static AnnotationConfigApplicationContext child(ApplicationContext parent, Class<?>... configurations) {
        AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext();
        child.setParent(parent);
        child.register(configurations);
        child.refresh();
        return child;
    }

    static class Orders {
        @DistributedLock(name = "orders")
        public void pay() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class Plain {
        @Bean
        Orders orders() {
            return new Orders();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(LockAutoConfiguration.class)
    static class WithTheAutoConfiguration extends Plain {}

    @Configuration(proxyBeanMethods = false)
    static class WithProxies extends Plain {
        @Bean
        static DefaultAdvisorAutoProxyCreator proxies() {
            DefaultAdvisorAutoProxyCreator proxies = new DefaultAdvisorAutoProxyCreator();
            proxies.setProxyTargetClass(true);
            return proxies;
        }
    }
}
