package io.github.lockboot.autoconfigure;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.KeepOn;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LogReader;
import io.github.lockboot.OwnThread;
import io.github.lockboot.RecordingLockRegistry;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.annotation.Order;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.interceptor.MatchAlwaysTransactionAttributeSource;
import org.springframework.transaction.interceptor.RuleBasedTransactionAttribute;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Methods that are called inside a transaction and do not take part in it. */
@OwnThread
class LockSuspendedTransactionTests {

    private final RecordingLockRegistry registry = new RecordingLockRegistry();
    private final DriverManagerDataSource database =
            new DriverManagerDataSource("jdbc:h2:mem:suspended;DB_CLOSE_DELAY=-1", "sa", "");
    private final JdbcTemplate jdbc = new JdbcTemplate(database);
    private final ToldTransactions manager = new ToldTransactions(database, registry);
    private final TransactionTemplate outer = new TransactionTemplate(manager);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class, LockAutoConfiguration.class))
            .withBean(JdbcTemplate.class, () -> jdbc)
            .withBean(PlatformTransactionManager.class, () -> manager)
            .withUserConfiguration(Transactions.class);

    private final ApplicationContextRunner recorded = runner.withBean(RecordingLockRegistry.class, () -> registry);

    @BeforeEach
    void createTable() {
        jdbc.execute("create table entry (text varchar(20))");
    }

    @AfterEach
    void dropTable() {
        jdbc.execute("drop all objects");
    }

    private List<String> entries() {
        return jdbc.queryForList("select text from entry", String.class);
    }

    private void insideATransaction(Work work) {
        recorded.run(context -> outer.executeWithoutResult(status -> {
            work.with(context.getBean(Ledger.class));
            registry.record("after the method");
        }));
    }

    private interface Work {
        void with(Ledger ledger);
    }

    @Test
    void aLockOfANewTransactionIsReleasedAfterItsCommitAndNotThatOfTheOuterOne() {
        try (LogReader log = new LogReader()) {
            insideATransaction(ledger -> ledger.requiresNew("a"));
            assertThat(registry.events())
                    .containsExactly("lock new", "committed", "unlock new", "after the method", "committed");
            assertThat(log.warnings()).as("the order of both is right").isEmpty();
        }
    }

    @Test
    void aLockOfAMethodWithoutTransactionIsReleasedBeforeTheOuterOneEnds() {
        try (LogReader log = new LogReader()) {
            insideATransaction(ledger -> ledger.notSupported("a"));
            assertThat(registry.events()).containsExactly("lock none", "unlock none", "after the method", "committed");
            assertThat(log.warnings()).isEmpty();
        }
    }

    @Test
    void aLockOfAMethodThatRefusesTransactionsIsReleasedAtOnce() {
        try (LogReader log = new LogReader()) {
            insideATransaction(ledger -> assertThatExceptionOfType(IllegalTransactionStateException.class)
                    .isThrownBy(() -> ledger.never("a")));
            assertThat(registry.events())
                    .containsExactly("lock never", "unlock never", "after the method", "committed");
            assertThat(log.warnings()).isEmpty();
        }
    }

    /** Otherwise another would store the row again. */
    @Test
    void aLockKeptOnSuccessIsKeptAfterItsOwnCommitAlthoughTheOuterTransactionIsRolledBack() {
        recorded.run(context -> outer.executeWithoutResult(status -> {
            context.getBean(Ledger.class).submit("a");
            status.setRollbackOnly();
        }));
        assertThat(entries()).containsExactly("a");
        assertThat(registry.events()).containsExactly("lock submit", "committed", "keep submit", "rolled back");
    }

    /** Otherwise none could store the row. */
    @Test
    void aLockKeptOnSuccessIsReleasedAfterItsOwnRollbackAlthoughTheOuterTransactionIsCommitted() {
        insideATransaction(ledger -> assertThatThrownBy(() -> ledger.submit(null)));
        assertThat(entries()).isEmpty();
        assertThat(registry.events())
                .containsExactly("lock submit", "rolled back", "unlock submit", "after the method", "committed");
    }

    @Test
    void aLockKeptOnSuccessIsReleasedIfItsMethodThrewAndTheTransactionIsCommittedAllTheSame() {
        insideATransaction(ledger -> assertThatThrownBy(() -> ledger.failKept()).hasMessage("body"));
        assertThat(registry.events())
                .containsExactly("lock failing", "after the method", "committed", "unlock failing");
    }

    @Test
    void aLockKeptOnSuccessIsReleasedIfItsNestedTransactionWasRolledBack() {
        insideATransaction(
                ledger -> assertThatThrownBy(() -> ledger.failNested()).hasMessage("body"));
        assertThat(registry.events()).containsExactly("lock nested", "after the method", "committed", "unlock nested");
    }

    /** Its exception does not roll back, but it is a failure all the same, as outside a transaction. */
    @Test
    void aLockKeptOnSuccessIsReleasedIfItsMethodThrewWhatRollsNothingBack() {
        insideATransaction(
                ledger -> assertThatThrownBy(() -> ledger.failAndCommit()).hasMessage("body"));
        assertThat(registry.events())
                .containsExactly("lock failing", "after the method", "committed", "unlock failing");
    }

    @ParameterizedTest
    @ValueSource(strings = {"required", "supports", "mandatory", "nested"})
    void aLockOfAMethodThatTakesPartIsHeldUntilTheTransactionHasEnded(String propagation) {
        insideATransaction(ledger -> {
            switch (propagation) {
                case "required" -> ledger.required();
                case "supports" -> ledger.supports();
                case "mandatory" -> ledger.mandatory();
                default -> ledger.nested();
            }
        });
        assertThat(registry.events()).containsExactly("lock part", "after the method", "committed", "unlock part");
    }

    @Test
    void whatTheBodyCallsInANewTransactionLeavesTheLockToTheOuterOne() {
        recorded.run(context -> outer.executeWithoutResult(status -> {
            Ledger ledger = context.getBean(Ledger.class);
            ledger.under(() -> ledger.requiresNew("a"));
            registry.record("after the method");
        }));
        assertThat(registry.events())
                .containsExactly(
                        "lock under",
                        "lock new",
                        "committed",
                        "unlock new",
                        "after the method",
                        "committed",
                        "unlock under");
    }

    @Test
    void behindATransactionTheLockIsHeldUntilThatHasEnded() {
        recorded.withPropertyValues("lock.aop.order=2147483647")
                .withUserConfiguration(TransactionsFirst.class)
                .run(context -> outer.executeWithoutResult(status -> {
                    context.getBean(Ledger.class).requiresNew("a");
                    registry.record("after the method");
                }));
        assertThat(registry.events())
                .containsExactly("lock new", "committed", "unlock new", "after the method", "committed");
    }

    @Test
    void itIsReleasedAfterTheMethodWhereverTheTransactionIsDeclared() {
        recorded.withBean(OfClass.class)
                .withBean(OfInterface.class)
                .withUserConfiguration(Advised.class)
                .run(context -> outer.executeWithoutResult(status -> {
                    context.getBean(OfClass.class).run();
                    context.getBean(Declared.class).run();
                    context.getBean(ByAdvice.class).run();
                    context.getBean(ByProxy.class).run();
                    registry.record("after the methods");
                }));
        assertThat(registry.events())
                .containsExactly(
                        "lock class",
                        "unlock class",
                        "lock interface",
                        "committed",
                        "unlock interface",
                        "lock advice",
                        "committed",
                        "unlock advice",
                        "lock proxy",
                        "committed",
                        "unlock proxy",
                        "after the methods",
                        "committed");
    }

    @Test
    void itIsReleasedAfterTheMethodIfJakartaTransactionsDeclareIt() {
        assumeTrue(
                ClassUtils.isPresent("jakarta.transaction.Transactional", null),
                "@Transactional of Jakarta around a lock: it is not on the class path; run LockSuspendedTransactionTests in"
                        + " lock-spring-boot-autoconfigure");
        recorded.withBean(OfJakarta.class)
                .run(context -> outer.executeWithoutResult(status -> {
                    context.getBean(OfJakarta.class).run();
                    registry.record("after the method");
                }));
        assertThat(registry.events())
                .containsExactly("lock jakarta", "unlock jakarta", "after the method", "committed");
    }

    @Test
    void aListenerAfterTheCommitReleasesItsLockBeforeTheNextListener() {
        try (LogReader log = new LogReader()) {
            recorded.withBean(Listeners.class, () -> new Listeners(registry))
                    .run(context -> outer.executeWithoutResult(status -> context.publishEvent("placed")));
            assertThat(registry.events())
                    .containsExactly("committed", "lock listener", "committed", "unlock listener", "next listener");
            assertThat(log.warnings()).isEmpty();
        }
    }

    @Test
    void twoBatchesInOppositeOrderDoNotWaitForEachOther() {
        MemoryLockRegistry locks = new MemoryLockRegistry();
        CyclicBarrier bothHadOne = new CyclicBarrier(2);
        runner.withBean(LockRegistry.class, () -> locks).run(context -> {
            Ledger ledger = context.getBean(Ledger.class);
            Executor threads = task -> new Thread(task).start(); // the common pool may have one thread only
            CompletableFuture<Void> one =
                    CompletableFuture.runAsync(() -> batch(ledger, bothHadOne, "a", "b"), threads);
            CompletableFuture<Void> other =
                    CompletableFuture.runAsync(() -> batch(ledger, bothHadOne, "b", "a"), threads);
            CompletableFuture.allOf(one, other).get(30, TimeUnit.SECONDS);
        });
        assertThat(entries()).containsExactlyInAnyOrder("a", "b", "b", "a");
    }

    private void batch(Ledger ledger, CyclicBarrier bothHadOne, String first, String second) {
        outer.executeWithoutResult(status -> {
            ledger.item(first);
            try {
                bothHadOne.await(20, TimeUnit.SECONDS);
            } catch (Exception failure) {
                throw new AssertionError(failure);
            }
            ledger.item(second);
        });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class Transactions {
        @Bean
        Ledger ledger(JdbcTemplate jdbc) {
            return new Ledger(jdbc);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(order = 0)
    static class TransactionsFirst {}

    static class Ledger {

        private final JdbcTemplate jdbc;

        Ledger(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @DistributedLock(name = "new")
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        public void requiresNew(String text) {
            insert(text);
        }

        @DistributedLock(name = "none")
        @Transactional(propagation = Propagation.NOT_SUPPORTED)
        public void notSupported(String text) {
            insert(text);
        }

        @DistributedLock(name = "never")
        @Transactional(propagation = Propagation.NEVER)
        public void never(String text) {
            insert(text);
        }

        @DistributedLock(name = "submit", keepFor = "1m", keepOn = KeepOn.SUCCESS)
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        public void submit(String text) {
            insert(text.strip());
        }

        @DistributedLock(name = "failing", keepFor = "1m", keepOn = KeepOn.SUCCESS)
        public void failKept() {
            throw new IllegalStateException("body");
        }

        @DistributedLock(name = "nested", keepFor = "1m", keepOn = KeepOn.SUCCESS)
        @Transactional(propagation = Propagation.NESTED)
        public void failNested() {
            throw new IllegalStateException("body");
        }

        @DistributedLock(name = "failing", keepFor = "1m", keepOn = KeepOn.SUCCESS)
        @Transactional(noRollbackFor = IllegalStateException.class)
        public void failAndCommit() {
            throw new IllegalStateException("body");
        }

        @DistributedLock(name = "item", key = "#text", waitTime = "3s")
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        public void item(String text) {
            insert(text);
        }

        @DistributedLock(name = "part")
        @Transactional
        public void required() {}

        @DistributedLock(name = "part")
        @Transactional(propagation = Propagation.SUPPORTS)
        public void supports() {}

        @DistributedLock(name = "part")
        @Transactional(propagation = Propagation.MANDATORY)
        public void mandatory() {}

        @DistributedLock(name = "part")
        @Transactional(propagation = Propagation.NESTED)
        public void nested() {}

        @DistributedLock(name = "under")
        public void under(Runnable body) {
            body.run();
        }

        private void insert(String text) {
            jdbc.update("insert into entry values (?)", text);
        }
    }

    @Transactional(propagation = Propagation.NOT_SUPPORTED)
    static class OfClass {
        @DistributedLock(name = "class")
        public void run() {}
    }

    interface Declared {
        @DistributedLock(name = "interface")
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        void run();
    }

    static class OfInterface implements Declared {
        @Override
        public void run() {}
    }

    static class OfJakarta {
        @DistributedLock(name = "jakarta")
        @jakarta.transaction.Transactional(jakarta.transaction.Transactional.TxType.NOT_SUPPORTED)
        public void run() {}
    }

    static class ByAdvice {
        @DistributedLock(name = "advice")
        public void run() {}
    }

    static class ByProxy {
        @DistributedLock(name = "proxy")
        public void run() {}
    }

    /** As {@code <tx:advice>}, and as a {@code TransactionProxyFactoryBean}. */
    @Configuration(proxyBeanMethods = false)
    static class Advised {

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static Advisor newTransactions(TransactionManager transactions) {
            NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
            pointcut.setMappedName("run");
            pointcut.setClassFilter(type -> type == ByAdvice.class);
            return new DefaultPointcutAdvisor(pointcut, requiringNew(transactions));
        }

        @Bean
        ByAdvice byAdvice() {
            return new ByAdvice();
        }

        @Bean
        ByProxy byProxy(TransactionManager transactions) {
            ProxyFactory proxy = new ProxyFactory(new ByProxy());
            proxy.setProxyTargetClass(true);
            proxy.addAdvice(requiringNew(transactions));
            return (ByProxy) proxy.getProxy();
        }

        private static TransactionInterceptor requiringNew(TransactionManager transactions) {
            MatchAlwaysTransactionAttributeSource source = new MatchAlwaysTransactionAttributeSource();
            RuleBasedTransactionAttribute attribute = new RuleBasedTransactionAttribute();
            attribute.setPropagationBehavior(Propagation.REQUIRES_NEW.value());
            source.setTransactionAttribute(attribute);
            return new TransactionInterceptor(transactions, source);
        }
    }

    static class Listeners {

        private final RecordingLockRegistry registry;

        Listeners(RecordingLockRegistry registry) {
            this.registry = registry;
        }

        @TransactionalEventListener
        @Order(1)
        @DistributedLock(name = "listener")
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        public void locked(String event) {}

        @TransactionalEventListener
        @Order(2)
        public void next(String event) {
            registry.record("next listener");
        }
    }

    /** Those of the database, which tell when they have ended. */
    private static final class ToldTransactions extends DataSourceTransactionManager {

        private static final long serialVersionUID = 1L;

        private final transient RecordingLockRegistry registry;

        ToldTransactions(DriverManagerDataSource database, RecordingLockRegistry registry) {
            super(database);
            setNestedTransactionAllowed(true);
            this.registry = registry;
        }

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            super.doCommit(status);
            registry.record("committed");
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
            super.doRollback(status);
            registry.record("rolled back");
        }
    }
}
