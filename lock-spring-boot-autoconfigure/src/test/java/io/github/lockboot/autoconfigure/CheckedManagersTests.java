package io.github.lockboot.autoconfigure;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import javax.sql.DataSource;

import io.github.lockboot.LockLostException;
import io.github.lockboot.LogReader;
import io.github.lockboot.NamedLock;
import io.github.lockboot.OwnThread;
import io.github.lockboot.PoorClassLoader;
import io.github.lockboot.aop.CommitCheck;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.ProxyFactoryBean;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.aop.support.RootClassFilter;
import org.springframework.aop.target.HotSwappableTargetSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.CustomScopeConfigurer;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.PriorityOrdered;
import org.springframework.data.transaction.ChainedTransactionManager;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.HeuristicCompletionException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.TransactionManagementConfigurer;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.MatchAlwaysTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/** Every transaction manager checks the locks of the thread, whenever it is made and wherever it lives. */
@OwnThread
class CheckedManagersTests {

    private static final String NAME = "stock";

    private final DataSource database =
            new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
    private final JdbcTemplate jdbc = new JdbcTemplate(database);

    private final ApplicationContextRunner plain =
            new ApplicationContextRunner().withBean(DataSource.class, () -> database);

    private final ApplicationContextRunner runner = plain.withConfiguration(
                    AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean(MemoryLockRegistry.class);

    @BeforeEach
    void createTable() {
        jdbc.execute("create table entry (text varchar(20))");
    }

    @AfterEach
    void shutDown() {
        jdbc.execute("shutdown");
    }

    // --- what is asserted -------------------------------------------------------------------------------------

    private void assertChecked(BeanFactory context) {
        assertChecked(context, context);
    }

    /** A service of the application, or else a template, commits by the transaction manager. */
    private void assertChecked(BeanFactory locks, BeanFactory managers) {
        PlatformTransactionManager manager = managers.getBean("manager", PlatformTransactionManager.class);
        assertRolledBack(locks, managers.getBeanProvider(Writer.class).getIfAvailable(() -> writer(manager)));
        assertThat(checksOf(manager)).hasSize(1);
    }

    private Writer writer(PlatformTransactionManager manager) {
        return new Writer(jdbc) {
            @Override
            public void write(Runnable then) {
                new TransactionTemplate(manager).executeWithoutResult(status -> super.write(then));
            }
        };
    }

    private void assertRolledBack(BeanFactory locks, Writer writer) {
        MemoryLockRegistry registry = locks.getBean(MemoryLockRegistry.class);
        NamedLock lock = registry.get(NAME);
        lock.lock();
        Throwable thrown = catchThrowable(() -> writer.write(() -> registry.expire(NAME)));
        assertThat(catchThrowable(lock::unlock)).isInstanceOf(LockLostException.class);
        assertThat(thrown instanceof HeuristicCompletionException ? thrown.getCause() : thrown)
                .isInstanceOf(LockLostException.class);
        assertThat(rows()).isZero();
    }

    /** Of transaction managers. */
    private static List<String> warningsIn(LogReader log) {
        return log.warnings().stream()
                .filter(warning -> !warning.startsWith("Lock lost"))
                .toList();
    }

    private int rows() {
        return jdbc.queryForObject("select count(*) from entry", Integer.class);
    }

    private static List<TransactionExecutionListener> checksOf(PlatformTransactionManager manager) {
        return listenersOf(manager).stream()
                .filter(listener -> listener.getClass().getName().startsWith(CommitCheck.class.getName()))
                .toList();
    }

    private static List<TransactionExecutionListener> listenersOf(PlatformTransactionManager manager) {
        Object target = manager instanceof Wrapper wrapper ? wrapper.target() : manager;
        Object single = AopProxyUtils.getSingletonTarget(target);
        return List.copyOf(((ConfigurableTransactionManager) (single != null ? single : target))
                .getTransactionExecutionListeners());
    }

    private static int processorsOf(ConfigurableApplicationContext context) {
        return ((DefaultListableBeanFactory) context.getBeanFactory()).getBeanPostProcessorCount();
    }

    // --- in the context of the locks --------------------------------------------------------------------------

    @ParameterizedTest
    @ValueSource(
            classes = {
                Plain.class,
                ChosenByAConfigurer.class,
                CalledByAPointcut.class,
                NeededByAPostProcessor.class,
                NeededByAFirstPostProcessor.class,
                NeededByAFactoryPostProcessor.class,
                Registered.class,
                Late.class,
                Prototype.class,
                Produced.class,
                Proxied.class,
                ProxiedByAFactoryBean.class,
                ProxiedByAPostProcessor.class,
                WrappedByAPostProcessor.class,
                Scoped.class,
                WithListenersThatCannotBeChanged.class,
            })
    void howeverItIsMadeItChecks(Class<?> configuration) {
        try (LogReader log = new LogReader()) {
            runner.withUserConfiguration(configuration).run(context -> {
                assertChecked(context);
                assertChecked(context);
            });
            assertThat(warningsIn(log)).isEmpty();
        }
    }

    @Test
    void besideTheActuatorItChecks() {
        Class<?>[] actuator = Stream.of(
                        "org.springframework.boot.actuate.autoconfigure.metrics.MetricsAutoConfiguration",
                        "org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration")
                .filter(name -> ClassUtils.isPresent(name, null))
                .map(name -> ClassUtils.resolveClassName(name, null))
                .toArray(Class<?>[]::new);
        runner.withConfiguration(AutoConfigurations.of(actuator))
                .withUserConfiguration(ChosenByAConfigurer.class)
                .run(context -> {
                    assertThat(context).hasBean("meterRegistryPostProcessor");
                    assertChecked(context);
                });
    }

    @Test
    void aCompositeOfBeansIsRolledBack() {
        runner.withUserConfiguration(Composite.class).run(context -> {
            PlatformTransactionManager composite = context.getBean("unchecked", PlatformTransactionManager.class);
            assertRolledBack(context, writer(composite));
            assertThat(checksOf(context.getBean("manager", PlatformTransactionManager.class)))
                    .hasSize(1);
        });
    }

    // --- in a parent of it ------------------------------------------------------------------------------------

    @ParameterizedTest
    @ValueSource(
            classes = {
                Plain.class,
                Registered.class,
                Late.class,
                Produced.class,
                Proxied.class,
                ProxiedByAFactoryBean.class,
                ProxiedByAPostProcessor.class,
                WithListenersThatCannotBeChanged.class,
            })
    void madeInAParentBeforeItChecks(Class<?> configuration) {
        plain.withUserConfiguration(configuration).run(parent -> {
            PlatformTransactionManager made = parent.getBean("manager", PlatformTransactionManager.class);
            assertThat(listenersOf(made)).allMatch(listener -> listener == OWN);
            runner.withParent(parent).run(this::assertChecked);
        });
    }

    @ParameterizedTest
    @ValueSource(classes = {Late.class, Prototype.class, Produced.class, ProxiedByAFactoryBean.class, Scoped.class})
    void madeInAParentLaterItChecks(Class<?> configuration) {
        plain.withUserConfiguration(configuration)
                .run(parent -> runner.withParent(parent).run(child -> {
                    assertChecked(child, parent);
                    assertChecked(child);
                }));
    }

    @Test
    void madeInTheParentOfAParentItChecks() {
        plain.withUserConfiguration(Plain.class)
                .run(grandparent -> new ApplicationContextRunner()
                        .withParent(grandparent)
                        .run(parent -> runner.withParent(parent).run(this::assertChecked)));
    }

    @Test
    void ofTwoContextsOneMayCloseAndTheOtherIsStillChecked() {
        plain.withUserConfiguration(Plain.class).run(parent -> {
            PlatformTransactionManager manager = parent.getBean("manager", PlatformTransactionManager.class);
            int processors = processorsOf(parent);
            runner.withParent(parent).run(first -> {
                runner.withParent(parent).run(second -> {
                    assertChecked(first);
                    assertChecked(second);
                });
                assertChecked(first);
                assertThat(checksOf(manager)).hasSize(1);
            });
            assertThat(processorsOf(parent)).isEqualTo(processors);
            runner.withParent(parent).run(third -> assertChecked(third));
            assertThat(processorsOf(parent)).isEqualTo(processors);
        });
    }

    @Test
    void aParentWithLocksOfItsOwnChecksOnce() {
        runner.withUserConfiguration(Plain.class)
                .run(parent -> runner.withParent(parent).run(this::assertChecked));
    }

    /** As two applications in one container that share a parent context. */
    @Test
    void anApplicationThatIsClosedLeavesNothingOfItsClassesInItsParent() throws Exception {
        try (ConfigurableApplicationContext parent = parent()) {
            PlatformTransactionManager manager = parent.getBean("manager", PlatformTransactionManager.class);
            int processors = processorsOf(parent);
            WeakReference<ClassLoader> application = runAnApplicationIn(parent, manager);
            assertThat(checksOf(manager)).isEmpty();
            assertThat(processorsOf(parent)).isEqualTo(processors);
            Await.until("the classes of the application are gone", () -> {
                System.gc();
                return application.get() == null;
            });
        }
    }

    private ConfigurableApplicationContext parent() {
        GenericApplicationContext parent = new GenericApplicationContext();
        parent.registerBean(
                "manager", DataSourceTransactionManager.class, () -> new DataSourceTransactionManager(database));
        parent.refresh();
        return parent;
    }

    private static WeakReference<ClassLoader> runAnApplicationIn(
            ConfigurableApplicationContext parent, PlatformTransactionManager manager) throws Exception {
        ClassLoader application = new PoorClassLoader(CommitCheck.class.getName());
        List<Object> checks = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Object check = application
                    .loadClass(CommitCheck.class.getName())
                    .getConstructor()
                    .newInstance();
            ((BeanFactoryPostProcessor) check)
                    .postProcessBeanFactory(new DefaultListableBeanFactory(parent.getBeanFactory()));
            checks.add(check);
            assertThat(checksOf(manager))
                    .hasSize(1)
                    .allMatch(each -> each.getClass().getClassLoader() == application);
        }
        ((DisposableBean) checks.get(0)).destroy();
        assertThat(checksOf(manager)).hasSize(1);
        ((DisposableBean) checks.get(1)).destroy();
        return new WeakReference<>(application);
    }

    // --- in a child of it -------------------------------------------------------------------------------------

    @ParameterizedTest
    @ValueSource(classes = {Plain.class, Registered.class, Late.class, Prototype.class})
    void madeInAChildWithoutLocksItChecks(Class<?> configuration) {
        runner.run(parent ->
                plain.withParent(parent).withUserConfiguration(configuration).run(this::assertChecked));
    }

    // --- which cannot -----------------------------------------------------------------------------------------

    @ParameterizedTest
    @ValueSource(classes = {Wrapped.class, Hidden.class, Swapped.class, WrappedLate.class, Composite.class})
    void oneThatCannotCheckIsNamedInAWarning(Class<?> configuration) {
        try (LogReader log = new LogReader()) {
            runner.withUserConfiguration(configuration).run(context -> {
                assertThat(context).hasNotFailed();
                context.getBean("unchecked");
            });
            assertThat(warningsIn(log))
                    .singleElement()
                    .satisfies(warning -> assertThat(warning)
                            .startsWith("Transaction manager 'unchecked' may commit")
                            .contains("troubleshooting.md#a-transaction-manager-does-not-check-locks"));
        }
    }

    @Test
    void oneOfAParentThatCannotCheckIsNamedInAWarning() {
        plain.withUserConfiguration(Wrapped.class).run(parent -> {
            try (LogReader log = new LogReader()) {
                runner.withParent(parent).run(context -> assertThat(context).hasNotFailed());
                assertThat(warningsIn(log))
                        .singleElement()
                        .satisfies(warning ->
                                assertThat(warning).startsWith("Transaction manager 'unchecked' may commit"));
            }
        });
    }

    /** It commits nothing. */
    @Test
    void aMockIsNotWarnedOf() {
        try (LogReader log = new LogReader()) {
            runner.withBean(
                            "manager",
                            PlatformTransactionManager.class,
                            () -> Mockito.mock(PlatformTransactionManager.class))
                    .withBean(
                            "another",
                            DataSourceTransactionManager.class,
                            () -> Mockito.mock(DataSourceTransactionManager.class))
                    .run(context -> assertThat(context).hasNotFailed());
            assertThat(warningsIn(log)).isEmpty();
        }
    }

    // --- configurations ---------------------------------------------------------------------------------------

    static class Writer {

        private final JdbcTemplate jdbc;

        Writer(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        public void write(Runnable then) {
            jdbc.update("insert into entry values ('a')");
            then.run();
        }
    }

    static class AnnotatedWriter extends Writer {

        AnnotatedWriter(DataSource database) {
            super(new JdbcTemplate(database));
        }

        @Override
        @Transactional
        public void write(Runnable then) {
            super.write(then);
        }
    }

    static class PlainWriter extends Writer {

        PlainWriter(DataSource database) {
            super(new JdbcTemplate(database));
        }
    }

    private static final TransactionExecutionListener OWN = new TransactionExecutionListener() {};

    @Configuration(proxyBeanMethods = false)
    static class Plain {

        @Bean
        DataSourceTransactionManager manager(DataSource database) {
            return new DataSourceTransactionManager(database);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    @Import({Plain.class, AnnotatedWriter.class})
    static class ChosenByAConfigurer {

        @Bean
        TransactionManagementConfigurer configurer(DataSourceTransactionManager manager) {
            return () -> manager;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Plain.class, PlainWriter.class})
    static class CalledByAPointcut {

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        Advisor advisor(TransactionManager manager) {
            NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
            pointcut.setMappedName("write");
            pointcut.setClassFilter(new RootClassFilter(PlainWriter.class));
            return new DefaultPointcutAdvisor(
                    pointcut, new TransactionInterceptor(manager, new MatchAlwaysTransactionAttributeSource()));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Plain.class)
    static class NeededByAPostProcessor {

        @Bean
        static BeanPostProcessor loading(PlatformTransactionManager manager) {
            TransactionTemplate transactions = new TransactionTemplate(manager);
            return new BeanPostProcessor() {
                @Override
                public Object postProcessAfterInitialization(Object bean, String name) {
                    return transactions.execute(status -> bean);
                }
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Plain.class)
    static class NeededByAFirstPostProcessor {

        @Bean
        static First first(PlatformTransactionManager manager) {
            return new First(manager);
        }

        record First(PlatformTransactionManager manager) implements BeanPostProcessor, PriorityOrdered {

            @Override
            public int getOrder() {
                return HIGHEST_PRECEDENCE;
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Plain.class)
    static class NeededByAFactoryPostProcessor {

        @Bean
        static First first(PlatformTransactionManager manager) {
            return new First(manager);
        }

        record First(PlatformTransactionManager manager) implements BeanFactoryPostProcessor, PriorityOrdered {

            @Override
            public int getOrder() {
                return HIGHEST_PRECEDENCE;
            }

            @Override
            public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {}
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Registered {

        @Bean
        static BeanFactoryPostProcessor registering() {
            return beans -> beans.registerSingleton(
                    "manager", new DataSourceTransactionManager(beans.getBean(DataSource.class)));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Late {

        @Bean
        @Lazy
        DataSourceTransactionManager manager(DataSource database) {
            return new DataSourceTransactionManager(database);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Prototype {

        @Bean
        @Scope("prototype")
        DataSourceTransactionManager manager(DataSource database) {
            return new DataSourceTransactionManager(database);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Produced {

        @Bean
        static Producing manager(DataSource database) {
            return new Producing(database);
        }

        record Producing(DataSource database) implements FactoryBean<DataSourceTransactionManager> {

            @Override
            public DataSourceTransactionManager getObject() {
                return new DataSourceTransactionManager(database);
            }

            @Override
            public Class<?> getObjectType() {
                return DataSourceTransactionManager.class;
            }
        }
    }

    /** As an aspect would have it. */
    @Configuration(proxyBeanMethods = false)
    static class Proxied {

        @Bean
        PlatformTransactionManager manager(DataSource database) {
            ProxyFactory proxy = new ProxyFactory(new DataSourceTransactionManager(database));
            return (PlatformTransactionManager) proxy.getProxy();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ProxiedByAFactoryBean {

        @Bean
        ProxyFactoryBean manager(DataSource database) {
            ProxyFactoryBean proxy = new ProxyFactoryBean();
            proxy.setTarget(new DataSourceTransactionManager(database));
            proxy.setInterfaces(PlatformTransactionManager.class);
            return proxy;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Plain.class)
    static class ProxiedByAPostProcessor {

        @Bean
        static BeanPostProcessor proxying() {
            return replacing(manager -> (PlatformTransactionManager) new ProxyFactory(manager).getProxy());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Plain.class)
    static class WrappedByAPostProcessor {

        @Bean
        static BeanPostProcessor wrapping() {
            return replacing(Wrapper::new);
        }
    }

    private static BeanPostProcessor replacing(UnaryOperator<PlatformTransactionManager> replacement) {
        return new BeanPostProcessor() {
            @Override
            public Object postProcessAfterInitialization(Object bean, String name) {
                return bean instanceof PlatformTransactionManager manager ? replacement.apply(manager) : bean;
            }
        };
    }

    @Configuration(proxyBeanMethods = false)
    static class Scoped {

        @Bean
        static CustomScopeConfigurer scopes() {
            CustomScopeConfigurer scopes = new CustomScopeConfigurer();
            scopes.addScope("thread", new SimpleThreadScope());
            return scopes;
        }

        @Bean
        @Scope(value = "thread", proxyMode = ScopedProxyMode.INTERFACES)
        DataSourceTransactionManager manager(DataSource database) {
            return new DataSourceTransactionManager(database);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class WithListenersThatCannotBeChanged {

        @Bean
        DataSourceTransactionManager manager(DataSource database) {
            DataSourceTransactionManager manager = new DataSourceTransactionManager(database);
            manager.setTransactionExecutionListeners(List.of(OWN));
            return manager;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Plain.class)
    @SuppressWarnings("deprecation") // there are applications that have one
    static class Composite {

        @Bean
        ChainedTransactionManager unchecked(ObjectProvider<DataSourceTransactionManager> managers) {
            return new ChainedTransactionManager(managers.getObject());
        }
    }

    record Wrapper(PlatformTransactionManager target) implements PlatformTransactionManager {

        @Override
        public TransactionStatus getTransaction(TransactionDefinition definition) {
            return target.getTransaction(definition);
        }

        @Override
        public void commit(TransactionStatus status) {
            target.commit(status);
        }

        @Override
        public void rollback(TransactionStatus status) {
            target.rollback(status);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Wrapped {

        @Bean
        PlatformTransactionManager unchecked(DataSource database) {
            return new Wrapper(new DataSourceTransactionManager(database));
        }
    }

    /** A proxy that does not show its target. */
    @Configuration(proxyBeanMethods = false)
    static class Hidden {

        @Bean
        PlatformTransactionManager unchecked(DataSource database) {
            ProxyFactory proxy = new ProxyFactory(new DataSourceTransactionManager(database));
            proxy.setInterfaces(PlatformTransactionManager.class);
            proxy.setOpaque(true);
            return (PlatformTransactionManager) proxy.getProxy();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Swapped {

        @Bean
        PlatformTransactionManager unchecked(DataSource database) {
            ProxyFactory proxy = new ProxyFactory();
            proxy.setTargetSource(new HotSwappableTargetSource(new DataSourceTransactionManager(database)));
            proxy.setInterfaces(PlatformTransactionManager.class);
            return (PlatformTransactionManager) proxy.getProxy();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class WrappedLate {

        @Bean
        @Lazy
        PlatformTransactionManager unchecked(DataSource database) {
            return new Wrapper(new DataSourceTransactionManager(database));
        }
    }
}
