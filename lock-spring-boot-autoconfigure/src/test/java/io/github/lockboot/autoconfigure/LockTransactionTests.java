package io.github.lockboot.autoconfigure;

import java.util.List;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.KeepOn;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LogReader;
import io.github.lockboot.OwnThread;
import io.github.lockboot.RecordingLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Locks and transactions of a real database. */
@OwnThread
class LockTransactionTests {

    private final RecordingLockRegistry registry = new RecordingLockRegistry();
    private final SingleConnectionDataSource database =
            new SingleConnectionDataSource("jdbc:h2:mem:locks", "sa", "", true);
    private final JdbcTemplate jdbc = new JdbcTemplate(database);
    private final TransactionTemplate transaction = new TransactionTemplate(new ToldTransactions(database, registry));

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean(RecordingLockRegistry.class, () -> registry)
            .withBean(JdbcTemplate.class, () -> jdbc)
            .withBean(ToldTransactions.class, () -> new ToldTransactions(database, registry))
            .withUserConfiguration(Transactions.class);

    private final Logger log = (Logger) LoggerFactory.getLogger("io.github.lockboot.aop");
    private final ListAppender<ILoggingEvent> warnings = new ListAppender<>();

    @BeforeEach
    void createTable() {
        warnings.start();
        log.addAppender(warnings);
        log.setLevel(Level.WARN);
        log.setAdditive(false);
        jdbc.execute("create table entry (text varchar(20))");
    }

    @AfterEach
    void close() {
        log.detachAppender(warnings);
        log.setLevel(null);
        log.setAdditive(true);
        jdbc.execute("drop table entry");
        database.destroy();
    }

    private List<String> entries() {
        return jdbc.queryForList("select text from entry", String.class);
    }

    @Test
    void theTransactionOfTheSameMethodEndsUnderTheLock() {
        runner.run(context -> context.getBean(Ledger.class).inOwnTransaction("a"));
        assertThat(registry.events()).containsExactly("lock own", "committed", "unlock own");
        assertThat(entries()).containsExactly("a");
        assertThat(warnings.list).isEmpty();
    }

    @Test
    void insideATransactionTheLockIsReleasedAfterItsCommit() {
        runner.run(context -> transaction.executeWithoutResult(status -> {
            context.getBean(Ledger.class).write("a");
            registry.record("after the method");
        }));
        assertThat(registry.events()).containsExactly("lock write", "after the method", "committed", "unlock write");
        assertThat(entries()).containsExactly("a");
    }

    @Test
    void insideATransactionTheLockIsReleasedAfterItsRollback() {
        runner.run(context -> transaction.executeWithoutResult(status -> {
            context.getBean(Ledger.class).write("a");
            status.setRollbackOnly();
        }));
        assertThat(registry.events()).containsExactly("lock write", "rolled back", "unlock write");
        assertThat(entries()).isEmpty();
    }

    @Test
    void aFailingMethodKeepsItsLockUntilTheTransactionHasEnded() {
        runner.run(context -> assertThatThrownBy(() -> transaction.executeWithoutResult(
                        status -> context.getBean(Ledger.class).fail()))
                .hasMessage("body"));
        assertThat(registry.events()).containsExactly("lock fail", "rolled back", "unlock fail");
    }

    @Test
    void aLockThatWasLostRollsTheTransactionBack() {
        runner.run(context -> assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(() -> transaction.executeWithoutResult(status -> {
                    context.getBean(Ledger.class).write("a");
                    registry.lose("write");
                }))
                .withMessageContaining("detected before commit; the transaction is rolled back"));
        assertThat(registry.events()).containsExactly("lock write", "rolled back", "unlock write");
        assertThat(entries()).isEmpty();
    }

    /** Spring would write the exception to its log, and the name of the lock with it. */
    @Test
    void aLossThatIsFoundAfterTheCommitIsThrownAtNobody() {
        try (LogReader spring = new LogReader("org.springframework.transaction")) {
            runner.run(context -> transaction.executeWithoutResult(status -> {
                context.getBean(Ledger.class).write("a");
                TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                    @Override
                    public void afterCommit() {
                        registry.lose("write");
                    }
                });
            }));
            assertThat(registry.events()).containsExactly("lock write", "committed", "unlock write");
            assertThat(spring.messages()).noneMatch(message -> message.contains("'write'"));
        }
    }

    @Test
    void oneOfSeveralLocksThatWasLostRollsTheTransactionBack() {
        runner.run(context -> assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(() -> transaction.executeWithoutResult(status -> {
                    context.getBean(Ledger.class).writeAll("a", "b");
                    registry.lose("a");
                })));
        assertThat(registry.events()).containsExactly("lock a", "lock b", "rolled back", "unlock b", "unlock a");
        assertThat(entries()).isEmpty();
    }

    @Test
    void aLockKeptOnSuccessIsKeptAfterTheCommitOnly() {
        runner.run(context -> {
            Ledger ledger = context.getBean(Ledger.class);
            transaction.executeWithoutResult(status -> ledger.submit("a"));
            transaction.executeWithoutResult(status -> {
                ledger.submit("b");
                status.setRollbackOnly();
            });
        });
        assertThat(registry.events())
                .containsExactly(
                        "lock submit", "committed", "keep submit", "lock submit", "rolled back", "unlock submit");
    }

    @Test
    void aTransactionThatBeganTooEarlyIsWarnedOfOncePerMethod() {
        runner.run(context -> {
            Ledger ledger = context.getBean(Ledger.class);
            transaction.executeWithoutResult(status -> ledger.write("a"));
            transaction.executeWithoutResult(status -> ledger.write("b"));
            transaction.executeWithoutResult(status -> ledger.writeAll("c"));
        });
        assertThat(warnings.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .hasSize(2)
                .allMatch(message -> message.contains(" acquires its lock inside an active transaction: "))
                .anyMatch(message -> message.startsWith(Ledger.class.getName() + ".write(String) "));
    }

    /** It does not wait for the lock, so what it does not see, nobody has committed meanwhile. */
    @Test
    void aTransactionThatBeganUnderTheLockIsNotWarnedOfWhenTheLockIsTakenAgain() {
        runner.run(context -> {
            Ledger ledger = context.getBean(Ledger.class);
            ledger.under(() -> transaction.executeWithoutResult(status -> ledger.write("a")));
            assertThat(warnings.list).isEmpty();
            transaction.executeWithoutResult(status -> ledger.write("b"));
            assertThat(warnings.list).hasSize(1);
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

    static class Ledger {

        private final JdbcTemplate jdbc;

        Ledger(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @DistributedLock(name = "own")
        @Transactional
        public void inOwnTransaction(String text) {
            insert(text);
        }

        @DistributedLock(name = "write")
        public void write(String text) {
            insert(text);
        }

        @DistributedLock(name = "write")
        public void under(Runnable body) {
            body.run();
        }

        @DistributedLock(key = "#texts", perElement = true)
        public void writeAll(String... texts) {
            List.of(texts).forEach(this::insert);
        }

        @DistributedLock(name = "submit", keepFor = "1m", keepOn = KeepOn.SUCCESS)
        public void submit(String text) {
            insert(text);
        }

        @DistributedLock(name = "fail")
        public void fail() {
            throw new IllegalStateException("body");
        }

        private void insert(String text) {
            jdbc.update("insert into entry values (?)", text);
        }
    }

    /** Those of the database, which tell when they have ended. */
    private static final class ToldTransactions extends DataSourceTransactionManager {

        private static final long serialVersionUID = 1L;

        private final transient RecordingLockRegistry registry;

        ToldTransactions(SingleConnectionDataSource database, RecordingLockRegistry registry) {
            super(database);
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
