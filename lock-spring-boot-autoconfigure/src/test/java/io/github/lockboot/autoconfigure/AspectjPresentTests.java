package io.github.lockboot.autoconfigure;

import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockLostException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.RecordingLockRegistry;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.aspectj.AbstractAspectJAdvice;
import org.springframework.aop.aspectj.AspectInstanceFactory;
import org.springframework.aop.aspectj.AspectJAfterReturningAdvice;
import org.springframework.aop.aspectj.AspectJExpressionPointcut;
import org.springframework.aop.aspectj.AspectJExpressionPointcutAdvisor;
import org.springframework.aop.aspectj.AspectJMethodBeforeAdvice;
import org.springframework.aop.aspectj.AspectJPointcutAdvisor;
import org.springframework.aop.aspectj.SingletonAspectInstanceFactory;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.interceptor.MatchAlwaysTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * With aspectjweaver, which other tests do not have: Spring's AspectJ support makes the proxies, and calls are locked
 * once.
 */
@Tag("aspectjweaver")
class AspectjPresentTests {

    private static final String ASPECTJ_PROXIES =
            "org.springframework.aop.aspectj.annotation.AnnotationAwareAspectJAutoProxyCreator";

    private final RecordingLockRegistry registry = new RecordingLockRegistry();

    private final ApplicationContextRunner plain = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean(RecordingLockRegistry.class, () -> registry)
            .withBean(Orders.class)
            .withBean(Greeting.class);

    private final ApplicationContextRunner boot =
            plain.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class));

    private final ApplicationContextRunner later = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LockAutoConfiguration.class))
            .withBean(MemoryLockRegistry.class)
            .withBean(Later.class)
            .withBean("before", AspectJPointcutAdvisor.class, () -> adviceOn("before"))
            .withBean("after", AspectJPointcutAdvisor.class, () -> adviceOn("after"));

    @Test
    void theseTestsRunWithAspectjweaver() {
        assertThat(ClassUtils.isPresent("org.aspectj.weaver.Advice", null)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void bootsAspectjProxiesLockAClassOnce(boolean proxyTargetClass) {
        boot.withPropertyValues("spring.aop.proxy-target-class=" + proxyTargetClass)
                .run(context -> {
                    assertThat(proxyCreator(context)).isEqualTo(ASPECTJ_PROXIES);
                    assertOrdersAreLockedOnce(context);
                });
    }

    @ParameterizedTest
    @CsvSource({"true,true", "true,false", "false,true", "false,false"})
    void anInterfaceIsLockedOnceWhateverTheProxySettings(boolean auto, boolean proxyTargetClass) {
        boot.withPropertyValues("spring.aop.auto=" + auto, "spring.aop.proxy-target-class=" + proxyTargetClass)
                .run(context -> {
                    Greeter greeter = context.getBean(Greeter.class);
                    assertThat(AopUtils.isJdkDynamicProxy(greeter)).isEqualTo(!proxyTargetClass);
                    greeter.greet("you");
                    assertThat(registry.events()).containsExactly("lock greet:you", "unlock greet:you");
                });
    }

    @Test
    void anApplicationThatEnablesAspectjProxiesItselfIsLockedOnce() {
        plain.withUserConfiguration(AspectjProxies.class).run(context -> {
            assertThat(proxyCreator(context)).isEqualTo(ASPECTJ_PROXIES);
            assertOrdersAreLockedOnce(context);
        });
    }

    @Test
    void anApplicationThatEnablesThemBesideBootIsLockedOnce() {
        boot.withUserConfiguration(AspectjProxies.class).run(AspectjPresentTests.this::assertOrdersAreLockedOnce);
    }

    @Test
    void anAspectjPointcutOnTheSameMethodSharesTheProxyAndRunsInsideTheLock() {
        boot.withUserConfiguration(Audit.class).run(context -> {
            Orders orders = context.getBean(Orders.class);
            orders.pay("o1");
            assertThat(registry.events()).containsExactly("lock o1", "audit", "unlock o1");
            assertThat(AopUtils.isAopProxy(((Advised) orders).getTargetSource().getTarget()))
                    .isFalse();
        });
    }

    @Test
    void aTransactionByAPointcutIsNotCommittedAfterTheLoss() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LockAutoConfiguration.class))
                .withBean(MemoryLockRegistry.class)
                .withBean(Book.class)
                .withUserConfiguration(TransactionsByAPointcut.class)
                .run(context -> {
                    MemoryLockRegistry locks = context.getBean(MemoryLockRegistry.class);
                    CountingManager manager = context.getBean(CountingManager.class);
                    Book book = context.getBean(Book.class);
                    book.write(() -> {});
                    assertThat(manager.commits).isEqualTo(1);
                    assertThatThrownBy(() -> book.write(() -> locks.expire("book")))
                            .isInstanceOf(LockLostException.class);
                    assertThat(manager.commits).isEqualTo(1);
                    assertThat(manager.getTransactionExecutionListeners()).hasSize(1);
                });
    }

    // --- advice that asks Spring which call it is in ---------------------------------------------------------

    @Test
    void adviceBeforeAStageFindsItsCall() {
        later.run(context -> {
            CompletableFuture<String> result = context.getBean(Later.class).stage("a");
            context.getBean(Later.class).underWay().complete("done");
            assertThat(result.get()).isEqualTo("done");
            assertThat(registry.events()).containsExactly("before a", "after a");
        });
    }

    @Test
    void adviceBeforeAPublisherFindsItsCall() {
        later.run(context -> {
            assertThat(context.getBean(Later.class).mono("a").block()).isEqualTo("done");
            assertThat(registry.events()).containsExactly("before a", "after a");
        });
    }

    @Test
    void aStageIsLockedUntilItCompletesWhenAdviceRunsAfterItsMethod() {
        later.run(context -> {
            NamedLock lock = context.getBean(MemoryLockRegistry.class).get("later:a");
            CompletableFuture<String> result = context.getBean(Later.class).stage("a");
            Await.until(
                    "the advice has run",
                    () -> result.isDone() || registry.events().contains("after a"));
            assertThat(result).isNotDone();
            assertThat(lock.isLocked()).isTrue();
            context.getBean(Later.class).underWay().complete("done");
            assertThat(result.get()).isEqualTo("done");
            assertThat(lock.isLocked()).isFalse();
        });
    }

    @Test
    void adviceThatThrowsAfterTheMethodEndsTheCallThoughItsStageGoesOn() {
        later.run(context -> {
            assertThatThrownBy(
                            () -> context.getBean(Later.class).stage("refused").get())
                    .hasRootCauseMessage("after");
            assertThat(context.getBean(Later.class).underWay()).isNotDone();
            assertThat(context.getBean(MemoryLockRegistry.class)
                            .get("later:refused")
                            .isLocked())
                    .isFalse();
        });
    }

    private void assertOrdersAreLockedOnce(ApplicationContext context) {
        assertThat(context.getBean(Orders.class).pay("o1")).isEqualTo("paid o1");
        assertThat(registry.events()).containsExactly("lock o1", "unlock o1");
    }

    private static String proxyCreator(ApplicationContext context) {
        return context.getBean(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME)
                .getClass()
                .getName();
    }

    static class Orders {
        @DistributedLock(key = "#id")
        String pay(String id) {
            return "paid " + id;
        }
    }

    interface Greeter {
        @DistributedLock(name = "greet", key = "#name")
        void greet(String name);
    }

    static class Greeting implements Greeter {
        @Override
        public void greet(String name) {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAspectJAutoProxy
    static class AspectjProxies {}

    @Configuration(proxyBeanMethods = false)
    static class Audit {

        @Bean
        static AspectJExpressionPointcutAdvisor audit(RecordingLockRegistry registry) {
            AspectJExpressionPointcutAdvisor advisor = new AspectJExpressionPointcutAdvisor();
            advisor.setExpression("execution(* *..Orders.pay(..))");
            advisor.setAdvice((MethodInterceptor) invocation -> {
                registry.record("audit");
                return invocation.proceed();
            });
            return advisor;
        }
    }

    static class Book {
        @DistributedLock(name = "book")
        public void write(Runnable body) {
            body.run();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TransactionsByAPointcut {

        @Bean
        CountingManager manager() {
            return new CountingManager();
        }

        @Bean
        AspectJExpressionPointcutAdvisor transactions(TransactionManager manager) {
            AspectJExpressionPointcutAdvisor advisor = new AspectJExpressionPointcutAdvisor();
            advisor.setExpression("execution(* *..Book.write(..))");
            advisor.setAdvice(new TransactionInterceptor(manager, new MatchAlwaysTransactionAttributeSource()));
            return advisor;
        }
    }

    static class CountingManager extends AbstractPlatformTransactionManager {

        private static final long serialVersionUID = 1L;

        private int commits;

        @Override
        protected Object doGetTransaction() {
            return this;
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {}

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            commits++;
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {}
    }

    static class Later {

        private final CompletableFuture<String> underWay = new CompletableFuture<>();

        CompletableFuture<String> underWay() {
            return underWay;
        }

        @DistributedLock(name = "later", key = "#id")
        public CompletableFuture<String> stage(String id) {
            return underWay;
        }

        @DistributedLock(name = "later", key = "#id")
        public Mono<String> mono(String id) {
            return Mono.just("done");
        }
    }

    private AspectJPointcutAdvisor adviceOn(String when) {
        Method method = ReflectionUtils.findMethod(Advice.class, when, String.class);
        AspectJExpressionPointcut pointcut =
                new AspectJExpressionPointcut(Advice.class, new String[] {"id"}, new Class<?>[] {String.class});
        pointcut.setExpression("execution(* *..Later.*(..)) && args(id)");
        AspectInstanceFactory instance = new SingletonAspectInstanceFactory(new Advice(registry));
        AbstractAspectJAdvice advice = when.equals("before")
                ? new AspectJMethodBeforeAdvice(method, pointcut, instance)
                : new AspectJAfterReturningAdvice(method, pointcut, instance);
        advice.setArgumentNames("id");
        return new AspectJPointcutAdvisor(advice);
    }

    public record Advice(RecordingLockRegistry registry) {

        public void before(String id) {
            registry.record("before " + id);
        }

        public void after(String id) {
            registry.record("after " + id);
            if (id.equals("refused")) {
                throw new IllegalStateException("after");
            }
        }
    }
}
