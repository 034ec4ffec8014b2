package io.github.lockboot.fencing;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import javax.sql.DataSource;

import io.github.lockboot.Actor;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.StaleTokenException;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** What does not depend on the database; {@link JdbcFenceOnDatabasesTests} has the rest. */
class JdbcFenceTests {

    private final JdbcDataSource database = new JdbcDataSource();
    private final JdbcTemplate jdbc = new JdbcTemplate(database);
    private final JdbcFence fence = new JdbcFence(database);
    private final Actor other = new Actor();

    JdbcFenceTests() {
        database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=30000");
        jdbc.execute(JdbcFence.DDL);
        jdbc.execute("create table stock (sku varchar(9) primary key, amount int)");
        jdbc.update("insert into stock values ('pen', 10)");
    }

    @AfterEach
    void leave() {
        other.close();
        jdbc.execute("shutdown");
    }

    private void inTransaction(Consumer<TransactionStatus> action) {
        new TransactionTemplate(new JdbcTransactionManager(database)).executeWithoutResult(action);
    }

    private void setAmount(int amount, long token) {
        inTransaction(status -> {
            fence.check("stock:pen", token);
            jdbc.update("update stock set amount = ? where sku = 'pen'", amount);
        });
    }

    private int amount() {
        return jdbc.queryForObject("select amount from stock where sku = 'pen'", Integer.class);
    }

    @Test
    void theLateWriteOfAPausedHolderIsRefused() throws Exception {
        MemoryLockRegistry registry = new MemoryLockRegistry();
        NamedLock lock = registry.get("stock:pen");
        lock.lock();
        long token = lock.fencingToken();
        setAmount(9, token);

        registry.expire("stock:pen"); // the holder sleeps and does not notice
        other.run(() -> {
            lock.lock();
            setAmount(7, lock.fencingToken());
            lock.unlock();
        });

        assertThatExceptionOfType(StaleTokenException.class)
                .isThrownBy(() -> setAmount(8, token))
                .satisfies(stale -> {
                    assertThat(stale.getLockName()).isEqualTo("stock:pen");
                    assertThat(stale.getFencingToken()).isEqualTo(token);
                    assertThat(stale.getNewestToken()).isGreaterThan(token);
                });
        assertThat(amount()).isEqualTo(7);
        assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
    }

    @Test
    void theLateWriteOfAReaderIsRefusedAfterThatOfTheNextWriter() throws Exception {
        MemoryLockRegistry registry = new MemoryLockRegistry();
        NamedLock read = registry.get("stock:pen", LockOptions.defaults().shared());
        NamedLock readElsewhere =
                registry.newInstance().get("stock:pen", LockOptions.defaults().shared());
        read.lock();
        assertThat(other.call(() -> readElsewhere.tryLock())).isTrue();
        long token = read.fencingToken();
        setAmount(9, token);
        setAmount(8, other.call(readElsewhere::fencingToken));
        read.unlock();
        other.run(readElsewhere::unlock);

        NamedLock write = registry.get("stock:pen");
        write.lock();
        setAmount(7, write.fencingToken());
        assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> setAmount(6, token));
        write.unlock();
        assertThat(amount()).isEqualTo(7);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void whatIsNoTokenIsRefused(long token) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> setAmount(9, token))
                .withMessage("token is " + token + "; pass the fencing token of the lock, which is positive");
        assertThat(amount()).isNotEqualTo(9);
    }

    /** As MySQL's driver does with {@code useAffectedRows=true}. */
    @Test
    void aHolderMayWriteAnyNumberOfTimesWhereOnlyChangedRowsAreCounted() {
        DataSource changes = ChangedRows.onlyOf(database);
        JdbcFence counted = new JdbcFence(changes);
        TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(changes));
        transaction.executeWithoutResult(status -> {
            counted.check("a", 3);
            counted.check("a", 3);
        });
        transaction.executeWithoutResult(status -> counted.check("a", 3));
        transaction.executeWithoutResult(status -> counted.check("a", 4));
        assertThatExceptionOfType(StaleTokenException.class)
                .isThrownBy(() -> transaction.executeWithoutResult(status -> counted.check("a", 3)))
                .satisfies(stale -> assertThat(stale.getNewestToken()).isEqualTo(4));
    }

    @Test
    void aCheckThatChangesNothingHoldsOffNewerWritersTooWhereOnlyChangedRowsAreCounted() throws Exception {
        DataSource changes = ChangedRows.onlyOf(database);
        JdbcFence counted = new JdbcFence(changes);
        TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(changes));
        transaction.executeWithoutResult(status -> counted.check("a", 2));
        CompletableFuture<Void> newer = new CompletableFuture<>();
        transaction.executeWithoutResult(status -> {
            counted.check("a", 2);
            other.begin(() -> {
                inTransaction(its -> fence.check("a", 3));
                newer.complete(null);
            });
            Actor.await("it waits", other::isWaiting);
            assertThat(newer).isNotDone();
        });
        Actor.get(newer);
    }

    @Test
    void withoutATransactionItIsRefused() {
        assertThatIllegalStateException()
                .isThrownBy(() -> fence.check("a", 1))
                .withMessageStartingWith("a fence must be checked in the transaction that writes, but none is active");
    }

    @Test
    void inATransactionOfAnotherDataSourceItIsRefused() {
        JdbcDataSource another = new JdbcDataSource();
        another.setURL("jdbc:h2:mem:" + UUID.randomUUID());
        TransactionTemplate elsewhere = new TransactionTemplate(new JdbcTransactionManager(another));
        assertThatIllegalStateException()
                .isThrownBy(() -> elsewhere.executeWithoutResult(status -> fence.check("a", 1)));
    }

    /**
     * As with Hikari's {@code auto-commit=false}: its connections roll back what nobody commits, so no check would
     * count.
     */
    @Test
    void withoutATransactionItIsRefusedAlsoWhereAutoCommitIsOff() {
        DataSource withoutAutoCommit = new DelegatingDataSource(database) {
            @Override
            public Connection getConnection() throws SQLException {
                Connection connection = super.getConnection();
                connection.setAutoCommit(false);
                return connection;
            }
        };
        JdbcFence checked = new JdbcFence(withoutAutoCommit);
        assertThatIllegalStateException().isThrownBy(() -> checked.check("a", 5));

        TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(withoutAutoCommit));
        transaction.executeWithoutResult(status -> checked.check("a", 5));
        assertThatExceptionOfType(StaleTokenException.class)
                .isThrownBy(() -> transaction.executeWithoutResult(status -> checked.check("a", 3)));
    }

    /** As Oracle and SQL Server. */
    @Test
    void aNameIsCheckedForTheFirstTimeOnADatabaseThatCannotReleaseASavepoint() {
        DataSource unable = new DelegatingDataSource(database) {
            @Override
            public Connection getConnection() throws SQLException {
                Connection connection = super.getConnection();
                return (Connection) Proxy.newProxyInstance(
                        getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, args) -> {
                            if (method.getName().equals("releaseSavepoint")) {
                                throw new SQLFeatureNotSupportedException();
                            }
                            return method.invoke(connection, args);
                        });
            }
        };
        JdbcFence checked = new JdbcFence(unable);
        TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(unable));
        transaction.executeWithoutResult(status -> checked.check("a", 5));
        assertThatExceptionOfType(StaleTokenException.class)
                .isThrownBy(() -> transaction.executeWithoutResult(status -> checked.check("a", 3)));
    }

    @Test
    void aNameThatDoesNotFitIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> fence.check("x".repeat(256), 1))
                .withMessage("the name has 256 characters, 1 to 255 are allowed; use a digest of what it names");
        assertThatIllegalArgumentException().isThrownBy(() -> fence.check("", 1));
    }
}
