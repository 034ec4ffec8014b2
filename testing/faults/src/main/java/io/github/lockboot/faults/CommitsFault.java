package io.github.lockboot.faults;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.TransactionManagementConfigurer;
import org.springframework.transaction.interceptor.MatchAlwaysTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A way in which the transaction manager of an application comes into being.
 *
 * @param name on the command line and in the table
 * @param manager what has the manager made, in words for the table
 * @param application its configuration
 * @param isInParent whether it is that of the parent context of the one with the locks
 */
record CommitsFault(String name, String manager, Class<?> application, boolean isInParent) {

    private static final String EACH = "commits";

    /** In the order of the table. */
    static final List<CommitsFault> ALL = List.of(
            new CommitsFault("commits-plain", "the context, as any bean", Plain.class, false),
            new CommitsFault("commits-configurer", "a `TransactionManagementConfigurer`", ByConfigurer.class, false),
            new CommitsFault("commits-pointcut", "the advisor of a pointcut", ByPointcut.class, false),
            new CommitsFault("commits-post-processor", "a `BeanPostProcessor`", ByPostProcessor.class, false),
            new CommitsFault("commits-parent", "a parent context", Plain.class, true));

    /** @param faults names separated by commas, or null for all; {@code commits} is each of these */
    static List<CommitsFault> named(@Nullable String faults) {
        return ALL.stream()
                .filter(fault -> faults == null
                        || List.of(faults.split(",")).contains(EACH)
                        || List.of(faults.split(",")).contains(fault.name))
                .toList();
    }

    @Override
    public String toString() {
        return name;
    }

    @Configuration(proxyBeanMethods = false)
    static class Plain {

        @Bean
        CountingTransactionManager manager() {
            return new CountingTransactionManager();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    @Import(Plain.class)
    static class ByConfigurer {

        @Bean
        TransactionManagementConfigurer configurer(CountingTransactionManager manager) {
            return () -> manager;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Plain.class)
    static class ByPointcut {

        @Bean
        static DefaultAdvisorAutoProxyCreator proxies() {
            return new DefaultAdvisorAutoProxyCreator();
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        Advisor advisor(TransactionManager manager) {
            NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
            pointcut.setMappedName("write");
            return new DefaultPointcutAdvisor(
                    pointcut, new TransactionInterceptor(manager, new MatchAlwaysTransactionAttributeSource()));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Plain.class)
    static class ByPostProcessor {

        @Bean
        static BeanPostProcessor loading(PlatformTransactionManager manager) {
            TransactionTemplate transactions = new TransactionTemplate(manager);
            return new BeanPostProcessor() {

                @Override
                public @Nullable Object postProcessAfterInitialization(Object bean, String name) {
                    return transactions.execute(status -> bean);
                }
            };
        }
    }
}
