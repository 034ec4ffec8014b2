package io.github.lockboot.autoconfigure;

import java.lang.annotation.Annotation;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.RecordingLockRegistry;
import io.github.lockboot.aop.DistributedLockAdvisor;
import jakarta.annotation.security.RolesAllowed;
import jakarta.validation.Validator;
import jakarta.validation.executable.ExecutableValidator;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.retry.annotation.EnableRetry;
import org.springframework.retry.annotation.RetryConfiguration;
import org.springframework.retry.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.access.annotation.Secured;
import org.springframework.security.access.prepost.PostAuthorize;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.access.prepost.PreFilter;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.authorization.method.AuthorizationManagerAfterMethodInterceptor;
import org.springframework.security.authorization.method.AuthorizationManagerBeforeMethodInterceptor;
import org.springframework.security.authorization.method.PreFilterAuthorizationMethodInterceptor;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.validation.annotation.Validated;
import org.springframework.validation.beanvalidation.MethodValidationPostProcessor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Where the lock stands among the other advice of a method. */
class AdvisorOrderTests {

    private final RecordingLockRegistry registry = new RecordingLockRegistry();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class, LockAutoConfiguration.class))
            .withBean(RecordingLockRegistry.class, () -> registry);

    private final ApplicationContextRunner secured =
            runner.withUserConfiguration(Security.class).withBean(Vault.class);

    @BeforeEach
    void comeAsAUser() {
        SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken("user", "", "ROLE_USER"));
    }

    @AfterEach
    void leave() {
        SecurityContextHolder.clearContext();
    }

    @Test
    void aDeniedCallerDoesNotTakeTheLock() {
        secured.run(context -> {
            Vault vault = context.getBean(Vault.class);
            assertDenied(vault::open);
            assertDenied(vault::openOld);
            assertDenied(vault::openByRole);
            assertDenied(context.getBean(Safe.class)::open);
            assertThat(registry.events()).isEmpty();
        });
    }

    /** Else the answer would say that another has the lock, and come after the wait. */
    @Test
    void aDeniedCallerDoesNotWaitForTheLock() {
        secured.run(context -> {
            registry.take("vault");
            assertDenied(context.getBean(Vault.class)::open);
            assertThat(registry.waits()).isEmpty();
        });
    }

    @Test
    void aKeyIsMadeOfWhatAFilterLeaves() {
        secured.run(context -> {
            context.getBean(Vault.class).all(new ArrayList<>(List.of("mine", "theirs")));
            assertThat(registry.names()).containsExactly("mine");
        });
    }

    @Test
    void anAllowedCallerHasTheLockWhileTheMethodRuns() {
        SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken("admin", "", "ROLE_ADMIN"));
        secured.run(context -> {
            context.getBean(Vault.class).open();
            assertThat(registry.events()).containsExactly("lock vault", "unlock vault");
        });
    }

    /** The lock may be released by then: nothing is done any more. */
    @Test
    void aResultIsCheckedAfterTheRelease() {
        secured.run(context -> {
            assertDenied(context.getBean(Vault.class)::look);
            assertThat(registry.events()).containsExactly("lock vault", "unlock vault");
        });
    }

    private static void assertDenied(ThrowingCallable call) {
        assertThatExceptionOfType(AccessDeniedException.class).isThrownBy(call);
    }

    @Test
    void itStandsBehindSecurityAndBeforeRetriesCachesTransactionsAndValidation() {
        runner.withUserConfiguration(Security.class, Everything.class)
                .withBean(Shop.class)
                .run(context -> assertThat(advices((Advised) context.getBean(Shop.class)))
                        .containsExactly(
                                "AnnotationAsyncExecutionInterceptor",
                                "Security",
                                "Security",
                                "DistributedLockInterceptor",
                                "AnnotationAwareRetryOperationsInterceptor",
                                "CacheInterceptor",
                                "TransactionInterceptor",
                                "MethodValidationInterceptor"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ConcurrencyLimit", "Retryable"})
    void whatSpringFramework7AddsStandsBeforeSecurityAndTheLock(String annotation) {
        Class<? extends Annotation> type = Framework7.annotation(annotation);
        runner.withUserConfiguration(Security.class)
                .withBean(Framework7.postProcessorOf(type))
                .withBean(Framework7.subclass(Vault.class, "open", Framework7.plain(type)))
                .run(context -> assertThat(advices((Advised) context.getBean(Vault.class)))
                        .contains("Security")
                        .satisfies(all -> assertThat(all.get(0)).containsAnyOf("ConcurrencyLimit", "Retry"))
                        .endsWith("DistributedLockInterceptor"));
    }

    private static List<String> advices(Advised proxy) {
        return Stream.of(proxy.getAdvisors())
                .map(each -> each.getAdvice().getClass())
                .map(type -> type.getName().contains(".security.") ? "Security" : type.getSimpleName())
                .filter(name -> !name.equals("")) // makes the call known to AspectJ
                .filter(name -> !name.startsWith("ExposeInvocation"))
                .toList();
    }

    /** Applications move their transactions for advice of their own. The lock must be outside all the same. */
    @Test
    void itStandsBeforeTransactionsAndCachesWhateverTheirOrderIs() {
        runner.withUserConfiguration(Early.class).withBean(Shop.class).run(context -> {
            assertThat(advices((Advised) context.getBean(Shop.class)))
                    .containsExactly("DistributedLockInterceptor", "TransactionInterceptor", "CacheInterceptor");
            assertThat(context.getBean(DistributedLockAdvisor.class).getOrder()).isEqualTo(-8);
        });
        runner.withUserConfiguration(Earliest.class)
                .withBean(Shop.class)
                .run(context -> assertThat(
                                context.getBean(DistributedLockAdvisor.class).getOrder())
                        .isEqualTo(Integer.MIN_VALUE));
    }

    /** {@code @EnableCaching} gives the annotations of JCache its order, too. */
    @Test
    void itStandsBeforeCachesOfJCache() {
        runner.withUserConfiguration(JCache.class)
                .run(context -> assertThat(
                                context.getBean(DistributedLockAdvisor.class).getOrder())
                        .isEqualTo(-1));
    }

    @Test
    void theOrderOfTheApplicationCounts() {
        runner.withUserConfiguration(Early.class)
                .withBean(Shop.class)
                .withPropertyValues("lock.aop.order=5000")
                .run(context -> assertThat(advices((Advised) context.getBean(Shop.class)))
                        .containsExactly("TransactionInterceptor", "CacheInterceptor", "DistributedLockInterceptor"));
    }

    @Configuration(proxyBeanMethods = false)
    static class JCache {

        @Bean("org.springframework.cache.config.internalJCacheAdvisor")
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static Advisor ofNoMethod() {
            DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(
                    new NameMatchMethodPointcut(), (MethodInterceptor) MethodInvocation::proceed);
            advisor.setOrder(0);
            return advisor;
        }
    }

    /**
     * What {@code @EnableMethodSecurity} registers, without its module: with that, Spring Boot would secure all other
     * tests, too.
     */
    @Configuration(proxyBeanMethods = false)
    static class Security {

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static Advisor preFilter() {
            return new PreFilterAuthorizationMethodInterceptor();
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static Advisor preAuthorize() {
            return AuthorizationManagerBeforeMethodInterceptor.preAuthorize();
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static Advisor secured() {
            return AuthorizationManagerBeforeMethodInterceptor.secured();
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static Advisor jsr250() {
            return AuthorizationManagerBeforeMethodInterceptor.jsr250();
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static Advisor postAuthorize() {
            return AuthorizationManagerAfterMethodInterceptor.postAuthorize();
        }

        @Bean
        Safe safe() {
            return () -> {};
        }
    }

    interface Safe {
        @PreAuthorize("hasRole('ADMIN')")
        @DistributedLock(name = "safe")
        void open();
    }

    static class Vault {

        @PreAuthorize("hasRole('ADMIN')")
        @DistributedLock(name = "vault")
        public void open() {}

        @Secured("ROLE_ADMIN")
        @DistributedLock(name = "vault")
        public void openOld() {}

        @RolesAllowed("ADMIN")
        @DistributedLock(name = "vault")
        public void openByRole() {}

        @PreFilter("filterObject == 'mine'")
        @DistributedLock(key = "#names", perElement = true)
        public void all(List<String> names) {}

        @PostAuthorize("returnObject == 'mine'")
        @DistributedLock(name = "vault")
        public String look() {
            return "theirs";
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    @EnableCaching
    @EnableTransactionManagement
    static class Everything {

        @Bean
        PlatformTransactionManager transactionManager() {
            return new NoTransactions();
        }

        @Bean
        CacheManager cacheManager() {
            return new ConcurrentMapCacheManager();
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static RetryConfiguration retries() {
            return Retries.of(Retrying.class);
        }

        @Bean
        static MethodValidationPostProcessor methodValidation() {
            MethodValidationPostProcessor processor = new MethodValidationPostProcessor();
            processor.setProxyTargetClass(true);
            processor.setValidator(findingNothing());
            return processor;
        }

        private static Validator findingNothing() {
            ExecutableValidator executables = (ExecutableValidator) Proxy.newProxyInstance(
                    AdvisorOrderTests.class.getClassLoader(),
                    new Class<?>[] {ExecutableValidator.class},
                    (proxy, method, args) -> Set.of());
            return (Validator) Proxy.newProxyInstance(
                    AdvisorOrderTests.class.getClassLoader(),
                    new Class<?>[] {Validator.class},
                    (proxy, method, args) -> method.getName().equals("forExecutables") ? executables : Set.of());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCaching(order = 7)
    @EnableTransactionManagement(order = -7)
    static class Early {

        @Bean
        PlatformTransactionManager transactionManager() {
            return new NoTransactions();
        }

        @Bean
        CacheManager cacheManager() {
            return new ConcurrentMapCacheManager();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(order = Integer.MIN_VALUE)
    static class Earliest {

        @Bean
        PlatformTransactionManager transactionManager() {
            return new NoTransactions();
        }
    }

    @EnableRetry
    private static final class Retrying {}

    @Validated
    static class Shop {

        @Async
        @PreAuthorize("permitAll")
        @PostAuthorize("permitAll")
        @DistributedLock(name = "shop", key = "#id")
        @Retryable
        @Cacheable("orders")
        @Transactional
        public CompletableFuture<String> order(String id) {
            return CompletableFuture.completedFuture(id);
        }
    }

    private static final class NoTransactions extends AbstractPlatformTransactionManager {

        private static final long serialVersionUID = 1L;

        @Override
        protected Object doGetTransaction() {
            return this;
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {}

        @Override
        protected void doCommit(DefaultTransactionStatus status) {}

        @Override
        protected void doRollback(DefaultTransactionStatus status) {}
    }
}
