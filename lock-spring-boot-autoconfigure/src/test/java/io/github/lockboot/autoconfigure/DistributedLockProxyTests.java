package io.github.lockboot.autoconfigure;

import java.io.IOException;
import java.time.Duration;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.OwnThread;
import io.github.lockboot.RecordingLockRegistry;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.SmartFactoryBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@OwnThread
class DistributedLockProxyTests {

    private final RecordingLockRegistry registry = new RecordingLockRegistry();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LockAutoConfiguration.class))
            .withBean(RecordingLockRegistry.class, () -> registry)
            .withPropertyValues("wait=250ms")
            .withBean(Packets.class);

    @Test
    @Tag("this-build")
    void theseTestsRunWithoutAspectjweaver() {
        assertThat(ClassUtils.isPresent("org.aspectj.weaver.Advice", null)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"true,true", "true,false", "false,true", "false,false"})
    void aClassIsLockedWhateverTheProxySettings(boolean auto, boolean proxyTargetClass) {
        with(auto, proxyTargetClass).run(context -> {
            assertThat(context.getBean(Packets.class).grab("o1", "p1")).isEqualTo("o1p1");
            assertThat(registry.events()).containsExactly("lock o1p1", "unlock o1p1");
        });
    }

    @ParameterizedTest
    @CsvSource({"true,true", "true,false", "false,true", "false,false"})
    void anInterfaceIsLockedWhateverTheProxySettings(boolean auto, boolean proxyTargetClass) {
        with(auto, proxyTargetClass)
                .withBean(AnnotatedClass.class)
                .withBean(AnnotatedInterface.class)
                .run(context -> {
                    context.getBeansOfType(Greeter.class).values().forEach(greeter -> {
                        assertThat(AopUtils.isJdkDynamicProxy(greeter)).isEqualTo(!proxyTargetClass);
                        greeter.greet("you");
                    });
                    assertThat(registry.names()).containsExactly("class:you", "interface:you");
                });
    }

    @Test
    void aMethodOfAGenericInterfaceIsLockedBehindAnInterfaceProxy() {
        with(true, false).withBean(OrderHandler.class).run(context -> {
            @SuppressWarnings("unchecked")
            Handler<String> handler = context.getBean(Handler.class);
            handler.handle("o1");
            assertThat(registry.names()).containsExactly("o1");
        });
    }

    private ApplicationContextRunner with(boolean auto, boolean proxyTargetClass) {
        return runner.withPropertyValues(
                "spring.aop.auto=" + auto, "spring.aop.proxy-target-class=" + proxyTargetClass);
    }

    @Test
    void theAnnotationsTimesArePassedOn() {
        runner.run(context -> {
            context.getBean(Packets.class).timed();
            assertThat(registry.lastOptions().waitTime()).isEqualTo(Duration.ofMillis(250));
            assertThat(registry.lastOptions().ttl()).isEqualTo(Duration.ofSeconds(5));
            context.getBean(Packets.class).once();
            assertThat(registry.lastOptions().waitTime()).isZero();
            assertThat(registry.lastOptions().ttl()).isNull();
        });
    }

    @Test
    void aCallThroughTwoProxiesIsLockedOnce() {
        runner.withUserConfiguration(AnotherProxyCreator.class)
                .withBean(Kept.class)
                .run(context -> {
                    Kept kept = context.getBean(Kept.class);
                    assertThat(AopUtils.isAopProxy(
                                    ((Advised) kept).getTargetSource().getTarget()))
                            .isTrue();
                    kept.run();
                    assertThat(registry.events()).containsExactly("lock kept", "body", "keep kept");
                });
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aBeanThatIsAProxyOfItsOwnIsLockedAsItsInterfaceSays(boolean beforeTheCheck) {
        runner.withBean("repository", OwnProxy.class, beforeTheCheck).run(context -> {
            assertThat(context.getBean(Repository.class).find("a")).isEqualTo("found");
            assertThat(context.getBean(Repository.class).findByKey("a")).isEqualTo("found");
            assertThat(registry.names()).containsExactly("repository", "key:a");
        });
    }

    @Test
    void theBodyNeverRunsWithoutTheLock() {
        runner.run(context -> {
            registry.take("o1p1");
            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> context.getBean(Packets.class).grab("o1", "p1"))
                    .satisfies(failure -> assertThat(failure.getLockName()).isEqualTo("o1p1"));
            assertThat(registry.events()).isEmpty();
        });
    }

    @Test
    void theBodyNeverRunsWithoutAKey() {
        runner.run(context -> {
            assertThatThrownBy(() -> context.getBean(Packets.class).grab(null, "p1"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage(
                            Packets.class.getName()
                                    + ".grab(String, String): key expression \"#openid+#packet\" has the "
                                    + "operand #openid, which gives null: pass a value, or use an expression that is never null");
            assertThat(registry.events()).isEmpty();
        });
    }

    @Test
    void theBodysExceptionComesOutUnchangedAndTheLockIsFree() {
        runner.run(context -> {
            assertThatThrownBy(() -> context.getBean(Packets.class).fail()).isSameAs(Packets.FAILURE);
            assertThat(registry.events()).containsExactly("lock fail", "unlock fail");
        });
    }

    @Test
    void theLockIsOutsideTheTransaction() {
        runner.withUserConfiguration(Transactions.class).run(context -> {
            context.getBean(Paid.class).pay();
            assertThat(registry.events()).containsExactly("lock pay", "begin", "commit", "unlock pay");
        });
    }

    @Test
    void theOrderCanBeChanged() {
        runner.withUserConfiguration(Transactions.class)
                .withPropertyValues("lock.aop.order=2147483647")
                .run(context -> {
                    context.getBean(Paid.class).pay();
                    assertThat(registry.events()).containsExactly("begin", "lock pay", "commit", "unlock pay");
                });
    }

    static class Packets {

        static final IOException FAILURE = new IOException("body");

        @DistributedLock(key = "#openid+#packet")
        String grab(String openid, String packet) {
            return openid + packet;
        }

        @DistributedLock(name = "timed", waitTime = "${wait}", ttl = "PT5S")
        public void timed() {}

        @DistributedLock(name = "once", waitTime = "0")
        public void once() {}

        @DistributedLock(name = "fail")
        public void fail() throws IOException {
            throw FAILURE;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class AnotherProxyCreator {

        @Bean
        static DefaultAdvisorAutoProxyCreator anotherProxyCreator() {
            DefaultAdvisorAutoProxyCreator creator = new DefaultAdvisorAutoProxyCreator();
            creator.setProxyTargetClass(true);
            return creator;
        }
    }

    static class Kept {

        private final RecordingLockRegistry registry;

        Kept(RecordingLockRegistry registry) {
            this.registry = registry;
        }

        @DistributedLock(name = "kept", keepFor = "1m")
        public void run() {
            registry.record("body");
        }
    }

    @DistributedLock(name = "repository")
    interface Repository {
        String find(String id);

        @DistributedLock(name = "key", key = "#id")
        String findByKey(String id);
    }

    /** As Spring Data makes a repository: its target does not implement the interface. */
    static class OwnProxy implements SmartFactoryBean<Repository> {

        private final boolean eager;

        OwnProxy(boolean eager) {
            this.eager = eager;
        }

        @Override
        public boolean isEagerInit() {
            return eager;
        }

        @Override
        public Repository getObject() {
            ProxyFactory proxy = new ProxyFactory(new Object());
            proxy.setInterfaces(Repository.class);
            proxy.addAdvice((MethodInterceptor) invocation -> "found");
            return (Repository) proxy.getProxy();
        }

        @Override
        public Class<?> getObjectType() {
            return Repository.class;
        }
    }

    interface Handler<T> {
        void handle(T order);
    }

    static class OrderHandler implements Handler<String> {
        @Override
        @DistributedLock(key = "#order")
        public void handle(String order) {}
    }

    interface Greeter {
        void greet(String name);
    }

    static class AnnotatedClass implements Greeter {
        @Override
        @DistributedLock(name = "class", key = "#name")
        public void greet(String name) {}
    }

    interface LockedGreeter extends Greeter {
        @Override
        @DistributedLock(name = "interface", key = "#name")
        void greet(String name);
    }

    static class AnnotatedInterface implements LockedGreeter {
        @Override
        public void greet(String name) {}
    }

    static class Paid {
        @Transactional
        @DistributedLock(name = "pay")
        public void pay() {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(order = 0)
    static class Transactions {

        @Bean
        Paid paid() {
            return new Paid();
        }

        @Bean
        PlatformTransactionManager transactionManager(RecordingLockRegistry registry) {
            return new RecordingTransactionManager(registry);
        }
    }

    private static final class RecordingTransactionManager extends AbstractPlatformTransactionManager {

        private static final long serialVersionUID = 1L;

        private final transient RecordingLockRegistry registry;

        RecordingTransactionManager(RecordingLockRegistry registry) {
            this.registry = registry;
        }

        @Override
        protected Object doGetTransaction() {
            return this;
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {
            registry.record("begin");
        }

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            registry.record("commit");
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
            registry.record("rollback");
        }
    }
}
