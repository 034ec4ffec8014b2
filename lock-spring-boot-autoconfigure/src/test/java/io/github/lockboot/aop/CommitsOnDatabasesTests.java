package io.github.lockboot.aop;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Stream;
import javax.sql.DataSource;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.NamedLock;
import io.github.lockboot.OwnThread;
import io.github.lockboot.TestDatabase;
import io.github.lockboot.autoconfigure.LockAutoConfiguration;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.TestRegistries;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.protocol.ProtocolVersion;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A lock that Redis has lost rolls the transaction back, on real databases and with the transaction managers that
 * applications have.
 */
@OwnThread
class CommitsOnDatabasesTests {

    private static final String ROLLED_BACK = "detected before commit; the transaction is rolled back";

    private static RedisServer redis;
    private static TestRegistries registries;
    private static LockRegistry registry;

    private final String lock = "account " + UUID.randomUUID();
    private final List<Integer> completions = new ArrayList<>();

    /** How an application writes in a transaction. */
    enum Writing {
        JDBC {
            @Override
            Transactions on(DataSource database) {
                JdbcTemplate jdbc = new JdbcTemplate(database);
                return new Transactions(
                        new DataSourceTransactionManager(database),
                        text -> jdbc.update("insert into entry values (?)", text),
                        () -> {});
            }
        },
        JPA {
            @Override
            Transactions on(DataSource database) {
                LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
                factory.setDataSource(database);
                factory.setManagedTypes(PersistenceManagedTypes.of(Entry.class.getName()));
                factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
                factory.afterPropertiesSet();
                EntityManagerFactory made = factory.getObject();
                EntityManager entities = SharedEntityManagerCreator.createSharedEntityManager(made);
                return new Transactions(
                        new JpaTransactionManager(made), text -> entities.persist(new Entry(text)), factory::destroy);
            }
        },
        OWN {
            @Override
            Transactions on(DataSource database) {
                OwnTransactionManager manager = new OwnTransactionManager(database);
                return new Transactions(manager, manager::write, () -> {});
            }
        };

        abstract Transactions on(DataSource database);
    }

    private record Transactions(PlatformTransactionManager manager, Consumer<String> entries, Runnable end) {}

    /** Which of the two begins first. */
    enum Order {
        LOCK_OUTSIDE {
            @Override
            void run(Application application, String lock, Runnable body) {
                application.template.executeWithoutResult(
                        lock,
                        LockOptions.defaults().withTtl(Duration.ofSeconds(1)),
                        () -> application.transaction.executeWithoutResult(status -> body.run()));
            }
        },
        TRANSACTION_OUTSIDE {
            @Override
            void run(Application application, String lock, Runnable body) {
                application.transaction.executeWithoutResult(status -> application.ledger.run(lock, body));
            }
        };

        abstract void run(Application application, String lock, Runnable body);
    }

    private record Application(
            LockTemplate template, TransactionTemplate transaction, Transactions transactions, Ledger ledger) {}

    static Stream<Arguments> everyWay() {
        return Stream.of(TestDatabase.values())
                .flatMap(database -> Stream.of(Writing.values())
                        .flatMap(writing ->
                                Stream.of(Order.values()).map(order -> Arguments.of(database, writing, order))));
    }

    @BeforeAll
    static void start() {
        redis = RedisServer.start();
        registries = TestRegistries.on(redis);
        registry = registries.connected();
    }

    @AfterAll
    static void stop() {
        registries.close();
        redis.close();
    }

    @ParameterizedTest
    @MethodSource("everyWay")
    void aCommitAfterTheLossIsRolledBack(TestDatabase database, Writing writing, Order order) {
        List<String> entries = run(database, writing, application -> {
            assertThatExceptionOfType(LockLostException.class)
                    .isThrownBy(() -> order.run(application, lock, () -> {
                        write(application.transactions, "lost");
                        lose();
                    }))
                    .withMessageContaining(ROLLED_BACK);
            order.run(application, lock, () -> write(application.transactions, "held"));
        });
        assertThat(entries).containsExactly("held");
        assertThat(completions)
                .containsExactly(
                        TransactionSynchronization.STATUS_ROLLED_BACK, TransactionSynchronization.STATUS_COMMITTED);
    }

    /** The check asks nobody: a fence refuses such a write. */
    @Test
    void aLossInRedisThatTheHolderDoesNotKnowYetStopsNoCommit() {
        RedisConfiguration server = new RedisStandaloneConfiguration(redis.host(), redis.port());
        try (TestRegistries withoutAnnouncements = TestRegistries.on(server, resp2())) {
            RedisLockRegistry unaware = withoutAnnouncements.connected();
            List<String> entries = run(TestDatabase.H2, Writing.JDBC, unaware, application -> {
                assertThatExceptionOfType(LockLostException.class)
                        .isThrownBy(() -> application.template.executeWithoutResult(
                                lock,
                                LockOptions.defaults().withTtl(Duration.ofMinutes(10)),
                                () -> application.transaction.executeWithoutResult(status -> {
                                    write(application.transactions, "unprotected");
                                    redis.command("DEL", "lock:" + lock);
                                    assertThat(TestRegistries.canLock((RedisLockRegistry) registry, lock))
                                            .as("another instance is granted the lock")
                                            .isTrue();
                                })))
                        .as("the release")
                        .withMessageContaining("it had already ended when it was released");
            });
            assertThat(entries).containsExactly("unprotected");
        }
        assertThat(completions).containsExactly(TransactionSynchronization.STATUS_COMMITTED);
    }

    /** Over which Redis announces no changes. */
    private static LettuceClientConfiguration resp2() {
        return LettuceClientConfiguration.builder()
                .clientOptions(ClientOptions.builder()
                        .protocolVersion(ProtocolVersion.RESP2)
                        .build())
                .build();
    }

    /** As after a test that forgot to release it, in the application of the next one. */
    @Test
    void aLockOfAClosedRegistryStopsNoTransactionThatBeginsAfterItsEnd() {
        RedisLockRegistry closed = registries.connected();
        NamedLock forgotten = closed.get(lock, LockOptions.defaults().withTtl(Duration.ofSeconds(1)));
        forgotten.lock();
        closed.close();
        Await.until("the end of its lease", () -> forgotten.remainingLease().isZero());
        assertThat(run(
                        TestDatabase.H2,
                        Writing.JDBC,
                        application -> application.transaction.executeWithoutResult(
                                status -> write(application.transactions, "a"))))
                .containsExactly("a");
    }

    /** {@return what is in the database afterwards} */
    private static List<String> run(TestDatabase database, Writing writing, Consumer<Application> test) {
        return run(database, writing, registry, test);
    }

    private static List<String> run(
            TestDatabase database, Writing writing, LockRegistry locks, Consumer<Application> test) {
        DataSource opened = database.open();
        JdbcTemplate jdbc = new JdbcTemplate(opened);
        jdbc.execute("create table entry (text varchar(20) primary key)");
        Transactions transactions = writing.on(opened);
        try {
            new ApplicationContextRunner()
                    .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
                    .withBean(LockRegistry.class, () -> locks, bean -> bean.setDestroyMethodName(""))
                    .withBean(PlatformTransactionManager.class, transactions::manager)
                    .withBean(Ledger.class)
                    .run(context -> test.accept(new Application(
                            context.getBean(LockTemplate.class),
                            new TransactionTemplate(transactions.manager),
                            transactions,
                            context.getBean(Ledger.class))));
            return jdbc.queryForList("select text from entry", String.class);
        } finally {
            transactions.end.run();
            jdbc.execute("drop table entry");
        }
    }

    private void write(Transactions made, String text) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void afterCompletion(int status) {
                completions.add(status);
            }
        });
        made.entries.accept(text);
    }

    /** The next renewal finds it gone. */
    private void lose() {
        redis.command("DEL", "lock:" + lock);
        Await.until("the loss", () -> registry.get(lock).remainingLease().isZero());
    }

    static class Ledger {

        @DistributedLock(key = "#lock", ttl = "1s")
        public void run(String lock, Runnable body) {
            body.run();
        }
    }

    @Entity(name = "entry")
    static class Entry {

        @Id
        private String text;

        Entry() {}

        Entry(String text) {
            this.text = text;
        }
    }

    /** As an application may write one, for a resource that Spring does not know. */
    private static final class OwnTransactionManager extends AbstractPlatformTransactionManager {

        private static final long serialVersionUID = 1L;

        private final transient DataSource database;
        private transient Connection connection;

        OwnTransactionManager(DataSource database) {
            this.database = database;
        }

        void write(String text) {
            new JdbcTemplate(new SingleConnectionDataSource(connection, true))
                    .update("insert into entry values (?)", text);
        }

        @Override
        protected Object doGetTransaction() {
            return this;
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {
            onConnection(() -> {
                connection = database.getConnection();
                connection.setAutoCommit(false);
            });
        }

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            onConnection(connection::commit);
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
            onConnection(connection::rollback);
        }

        @Override
        protected void doCleanupAfterCompletion(Object transaction) {
            onConnection(connection::close);
        }

        private interface Step {
            void run() throws SQLException;
        }

        private static void onConnection(Step step) {
            try {
                step.run();
            } catch (SQLException failure) {
                throw new TransactionSystemException("the database failed", failure);
            }
        }
    }
}
