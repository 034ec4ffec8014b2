package io.github.lockboot.autoconfigure;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.IfNotAcquired;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LogReader;
import io.github.lockboot.OwnThread;
import io.github.lockboot.RecordingLockRegistry;
import io.github.lockboot.ScheduledLock;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.Advisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopContext;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Beans that a second proxy creator, such as the one of Apache Shiro, wraps in a proxy around the proxy of Spring Boot.
 */
@OwnThread
class TwoProxyCreatorsTests {

    private final RecordingLockRegistry registry = new RecordingLockRegistry();
    private final RecordedTransactions transactions = new RecordedTransactions(registry);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withUserConfiguration(Application.class)
            .withBean(RecordingLockRegistry.class, () -> registry)
            .withBean(PlatformTransactionManager.class, () -> transactions)
            .withBean(Orders.class);

    private interface Work {
        void with(Orders orders) throws Exception;
    }

    private void run(Work work) {
        runner.run(context -> {
            Orders orders = context.getBean(Orders.class);
            assertThat(AopUtils.isAopProxy(innerOf(orders))).isTrue();
            work.with(orders);
        });
    }

    private static Orders innerOf(Orders outer) throws Exception {
        return (Orders) ((Advised) outer).getTargetSource().getTarget();
    }

    @Test
    void theLockIsOutsideTheTransaction() {
        try (LogReader log = new LogReader()) {
            run(orders -> orders.pay("1"));
            assertThat(registry.events()).containsExactly("lock pay:1", "begin", "body", "commit", "unlock pay:1");
            assertThat(log.warnings()).isEmpty();
        }
    }

    @Test
    void aLockOfANewTransactionIsReleasedAfterItsCommit() {
        run(orders -> new TransactionTemplate(transactions).executeWithoutResult(status -> {
            orders.payApart("1");
            registry.record("after the method");
        }));
        assertThat(registry.events())
                .containsExactly(
                        "begin",
                        "lock pay:1",
                        "begin",
                        "begin",
                        "body",
                        "commit",
                        "commit",
                        "unlock pay:1",
                        "after the method",
                        "commit");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rate", "fallback", "stage", "mono"})
    void aSkippedCallIsNotCached(String method) {
        run(orders -> {
            registry.take("rate:EUR");
            assertThat(rate(orders, method)).isNotEqualTo("1.08");
            registry.free("rate:EUR");
            assertThat(rate(orders, method)).isEqualTo("1.08");
            assertThat(registry.events()).containsExactly("lock rate:EUR", "body", "unlock rate:EUR");
            assertThat(rate(orders, method)).as("from the cache").isEqualTo("1.08");
            assertThat(registry.events()).filteredOn("body"::equals).hasSize(1);
        });
    }

    private static String rate(Orders orders, String method) {
        return switch (method) {
            case "rate" -> orders.skipped("EUR");
            case "fallback" -> orders.replaced("EUR");
            case "stage" -> orders.stage("EUR").join();
            default -> orders.mono("EUR").block();
        };
    }

    @Test
    void aStageIsLockedOnce() {
        run(orders -> {
            assertThat(orders.stage("EUR").get(20, TimeUnit.SECONDS)).isEqualTo("1.08");
            assertThat(registry.events()).containsExactly("lock rate:EUR", "body", "unlock rate:EUR");
        });
    }

    @Test
    void eachSubscriptionIsLockedOnce() {
        run(orders -> {
            Flux<String> many = orders.many("EUR");
            assertThat(many.collectList().block()).containsExactly("1", "2");
            assertThat(many.collectList().block()).containsExactly("1", "2");
            assertThat(registry.events())
                    .containsExactly(
                            "lock rate:EUR", "body", "unlock rate:EUR", "lock rate:EUR", "body", "unlock rate:EUR");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"stage", "mono"})
    void aResultThatIsMadeOnAnotherThreadIsLockedOnce(String method) {
        runner.withUserConfiguration(Hop.class).run(context -> {
            assertThat(rate(context.getBean(Orders.class), method)).isEqualTo("1.08");
            assertThat(registry.events()).containsExactly("lock rate:EUR", "body", "unlock rate:EUR");
        });
    }

    @Test
    void aJobIsReportedOnce() {
        AtomicInteger reports = new AtomicInteger();
        runner.withBean(ScheduledLock.Listener.class, () -> run -> reports.incrementAndGet())
                .run(context -> {
                    context.getBean(Orders.class).job();
                    assertThat(registry.events()).containsExactly("lock job", "body", "unlock job");
                    assertThat(reports).hasValue(1);
                });
    }

    @Test
    void anAsyncMethodIsLockedOnceOnTheThreadOfItsExecutor() {
        run(orders -> {
            assertThat(orders.background().get(20, TimeUnit.SECONDS)).startsWith("background-");
            assertThat(registry.events()).containsExactly("lock background", "body", "unlock background");
        });
    }

    @Test
    void aRejectedAsyncMethodThatRunsOnTheThreadOfItsCallerIsLockedOnce() {
        runner.withPropertyValues("caller-runs=true").run(context -> {
            context.getBean(Orders.class).background().get(20, TimeUnit.SECONDS);
            assertThat(registry.events()).containsExactly("lock background", "body", "unlock background");
        });
    }

    @Test
    void aRetryBetweenTheProxiesRunsUnderTheLock() {
        runner.withUserConfiguration(Retry.class).run(context -> {
            context.getBean(Orders.class).pay("1");
            assertThat(registry.events())
                    .containsExactly(
                            "lock pay:1", "begin", "body", "commit", "begin", "body", "commit", "unlock pay:1");
        });
    }

    @Test
    void aCallOfTheInnerProxyIsLocked() {
        run(outer -> {
            innerOf(outer).pay("1");
            innerOf(outer).many("EUR").blockLast();
            assertThat(registry.names()).containsExactly("pay:1", "rate:EUR");
        });
    }

    @Test
    void aCallOfTheInnerProxyFromWithinTheBodyIsLocked() {
        run(outer -> {
            Orders inner = innerOf(outer);
            outer.call("1", () -> {
                inner.call("2", () -> {});
                inner.pay("3");
                outer.call("4", () -> {});
            });
            assertThat(registry.names()).containsExactly("call:1", "call:2", "pay:3", "call:4");
        });
    }

    @Test
    void aSubscriptionOfTheInnerProxyFromWithinTheBodyIsLocked() {
        run(outer -> {
            Orders inner = innerOf(outer);
            assertThat(outer.after("1", Mono.defer(() -> inner.after("2", inner.mono("EUR"))))
                            .block())
                    .isEqualTo("1.08");
            assertThat(registry.names()).containsExactly("after:1", "after:2", "rate:EUR");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"inner", "outer"})
    void theCurrentProxyLocks(String exposed) {
        runner.withPropertyValues("expose=" + exposed).run(context -> {
            context.getBean(Orders.class).call("1", () -> ((Orders) AopContext.currentProxy()).call("2", () -> {}));
            assertThat(registry.names()).containsExactly("call:1", "call:2");
        });
    }

    @Test
    void theKeyAndTheFallbackAreThoseOfTheBeanItself() {
        run(orders -> {
            assertThat(orders.ofRegion()).isEqualTo("body");
            assertThat(registry.names()).containsExactly("region:of the bean");
            registry.take("region:of the bean");
            assertThat(orders.ofRegion()).isEqualTo("fallback of the bean");
        });
    }

    @Test
    void aRefusedCallSaysSoOnce() {
        run(orders -> {
            registry.take("pay:1");
            assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> orders.pay("1"));
            assertThat(registry.events()).isEmpty();
        });
    }

    static class Orders {

        private final RecordingLockRegistry registry;
        public String region = "of the bean";

        Orders(RecordingLockRegistry registry) {
            this.registry = registry;
        }

        @Transactional
        @DistributedLock(name = "pay", key = "#id")
        public void pay(String id) {
            registry.record("body");
        }

        @Transactional(propagation = Propagation.REQUIRES_NEW)
        @DistributedLock(name = "pay", key = "#id")
        public void payApart(String id) {
            registry.record("body");
        }

        @Cacheable("rate")
        @DistributedLock(name = "rate", key = "#currency", waitTime = "0", ifNotAcquired = IfNotAcquired.SKIP)
        public String skipped(String currency) {
            return ofBody();
        }

        @Cacheable("rate")
        @DistributedLock(name = "rate", key = "#currency", waitTime = "0", fallback = "substitute")
        public String replaced(String currency) {
            return ofBody();
        }

        String substitute(String currency) {
            return "yesterday's " + currency;
        }

        @Cacheable("rate")
        @DistributedLock(name = "rate", key = "#currency", waitTime = "0", ifNotAcquired = IfNotAcquired.SKIP)
        public CompletableFuture<String> stage(String currency) {
            return CompletableFuture.completedFuture(ofBody());
        }

        @Cacheable("rate")
        @DistributedLock(name = "rate", key = "#currency", waitTime = "0", ifNotAcquired = IfNotAcquired.SKIP)
        public Mono<String> mono(String currency) {
            return Mono.fromSupplier(this::ofBody);
        }

        @DistributedLock(name = "rate", key = "#currency", waitTime = "0")
        public Flux<String> many(String currency) {
            return Flux.just("1", "2").doFirst(this::ofBody);
        }

        private String ofBody() {
            registry.record("body");
            return "1.08";
        }

        @ScheduledLock(name = "job")
        public void job() {
            registry.record("body");
        }

        @Async
        @DistributedLock(name = "background")
        public CompletableFuture<String> background() {
            registry.record("body");
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
        }

        @DistributedLock(name = "call", key = "#id")
        public void call(String id, Runnable body) {
            body.run();
        }

        @DistributedLock(name = "after", key = "#id")
        public Mono<String> after(String id, Mono<String> body) {
            return body;
        }

        @DistributedLock(name = "region", key = "#root.target.region", waitTime = "0", fallback = "substitute")
        public String ofRegion() {
            return "body";
        }

        private String substitute() {
            return "fallback " + region;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    @EnableCaching
    @EnableAsync
    static class Application {

        @Bean
        static DefaultAdvisorAutoProxyCreator anotherProxyCreator(Environment environment) {
            DefaultAdvisorAutoProxyCreator creator = new DefaultAdvisorAutoProxyCreator();
            creator.setProxyTargetClass(true);
            creator.setExposeProxy("outer".equals(environment.getProperty("expose")));
            return creator;
        }

        @Bean
        static BeanDefinitionRegistryPostProcessor exposesInnerProxies(Environment environment) {
            return registry -> {
                if ("inner".equals(environment.getProperty("expose"))) {
                    AopConfigUtils.forceAutoProxyCreatorToExposeProxy(registry);
                }
            };
        }

        @Bean
        CacheManager cacheManager() {
            return new ConcurrentMapCacheManager();
        }

        @Bean
        Executor taskExecutor(Environment environment) {
            return environment.containsProperty("caller-runs")
                    ? Runnable::run
                    : new SimpleAsyncTaskExecutor("background-");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Hop {

        @Bean
        static Advisor hopOfStage() {
            return between(
                    "stage",
                    invocation -> CompletableFuture.completedFuture(null)
                            .thenComposeAsync(none -> proceed(invocation).toFuture()));
        }

        @Bean
        static Advisor hopOfMono() {
            return between(
                    "mono",
                    invocation -> Mono.defer(() -> proceed(invocation)).subscribeOn(Schedulers.boundedElastic()));
        }

        private static Mono<?> proceed(MethodInvocation invocation) {
            try {
                Object result = invocation.proceed();
                return result instanceof CompletableFuture<?> stage ? Mono.fromFuture(stage) : (Mono<?>) result;
            } catch (Throwable failure) {
                return Mono.error(failure);
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Retry {

        @Bean
        static Advisor retry() {
            return between("pay", invocation -> {
                ((ProxyMethodInvocation) invocation).invocableClone().proceed();
                return invocation.proceed();
            });
        }
    }

    /** The proxy of Spring Boot has it not: it is no part of the infrastructure. */
    private static Advisor between(String method, MethodInterceptor advice) {
        NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
        pointcut.setMappedName(method);
        DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(pointcut, advice);
        advisor.setOrder(2_000);
        return advisor;
    }

    private static final class RecordedTransactions extends AbstractPlatformTransactionManager {

        private static final long serialVersionUID = 1L;

        private final transient RecordingLockRegistry registry;
        private int active;

        RecordedTransactions(RecordingLockRegistry registry) {
            this.registry = registry;
        }

        @Override
        protected Object doGetTransaction() {
            return this;
        }

        @Override
        protected boolean isExistingTransaction(Object transaction) {
            return active > 0;
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {
            active++;
            registry.record("begin");
        }

        @Override
        protected Object doSuspend(Object transaction) {
            return this;
        }

        @Override
        protected void doResume(Object transaction, Object suspended) {}

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            active--;
            registry.record("commit");
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
            active--;
            registry.record("rollback");
        }

        @Override
        protected void doSetRollbackOnly(DefaultTransactionStatus status) {}
    }
}
