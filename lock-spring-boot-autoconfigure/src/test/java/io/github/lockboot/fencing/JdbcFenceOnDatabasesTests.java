package io.github.lockboot.fencing;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import javax.sql.DataSource;

import io.github.lockboot.Actor;
import io.github.lockboot.StaleTokenException;
import io.github.lockboot.TestDatabase;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The fence in transactions of real databases. */
class JdbcFenceOnDatabasesTests {

    /** As docs/transactions.md gives it for MySQL and MariaDB. */
    private static final String BINARY_NAMES = "alter table lock_fence modify name varbinary(1020) not null";

    private final Actor other = new Actor();
    private DataSource database;
    private JdbcTemplate jdbc;
    private JdbcFence fence;

    private void open(TestDatabase product) {
        open(product, "");
    }

    private void open(TestDatabase product, String properties) {
        database = product.open(properties);
        jdbc = new JdbcTemplate(database);
        fence = new JdbcFence(database);
        jdbc.execute(JdbcFence.DDL);
        jdbc.execute("create table stock (sku varchar(9) primary key, amount int)");
        jdbc.update("insert into stock values ('pen', 10)");
    }

    @AfterEach
    void leave() {
        other.close();
        if (jdbc != null) { // it is installed
            jdbc.execute("drop table lock_fence");
            jdbc.execute("drop table stock");
        }
    }

    private void inTransaction(Consumer<TransactionStatus> action) {
        inTransaction(TransactionDefinition.ISOLATION_READ_COMMITTED, action);
    }

    private void inTransaction(int isolation, Consumer<TransactionStatus> action) {
        TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(database));
        transaction.setIsolationLevel(isolation);
        transaction.executeWithoutResult(action);
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

    private static int level(String isolation) {
        return new TransactionTemplate() {
            {
                setIsolationLevelName("ISOLATION_" + isolation);
            }
        }.getIsolationLevel();
    }

    /** What becomes of the check of another transaction that begins now. */
    private CompletableFuture<String> checkElsewhere(int isolation, String name, long token) {
        return other.start(() -> {
            try {
                inTransaction(isolation, its -> fence.check(name, token));
                return "passed";
            } catch (StaleTokenException stale) {
                return "stale";
            } catch (ConcurrencyFailureException notSeen) {
                return "again";
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void aHolderMayWriteAnyNumberOfTimesUntilANewerOneHas(TestDatabase product) {
        open(product);
        setAmount(9, 3);
        setAmount(8, 3);
        setAmount(7, 4);
        assertThatExceptionOfType(StaleTokenException.class)
                .isThrownBy(() -> setAmount(6, 3))
                .satisfies(stale -> assertThat(stale.getNewestToken()).isEqualTo(4));
        assertThat(amount()).isEqualTo(7);
    }

    @Test
    void aHolderMayWriteAnyNumberOfTimesWhereMariaDbCountsOnlyChangedRows() {
        open(TestDatabase.MARIADB, "&useAffectedRows=true");
        inTransaction(status -> {
            fence.check("a", 3);
            fence.check("a", 3);
        });
        inTransaction(status -> fence.check("a", 3));
        inTransaction(status -> fence.check("a", 4));
        assertThatExceptionOfType(StaleTokenException.class)
                .isThrownBy(() -> inTransaction(status -> fence.check("a", 3)))
                .satisfies(stale -> assertThat(stale.getNewestToken()).isEqualTo(4));
    }

    @ParameterizedTest
    @EnumSource
    void namesAreApart(TestDatabase product) {
        open(product);
        if (product == TestDatabase.MARIADB) {
            jdbc.execute(BINARY_NAMES);
        }
        inTransaction(status -> {
            fence.check("a", 5);
            fence.check("A", 1);
            fence.check("a ", 1);
            fence.check("\u00e4", 1);
            fence.check("\u9501", 1);
            fence.check("a", 5);
        });
        assertThatExceptionOfType(StaleTokenException.class)
                .isThrownBy(() -> inTransaction(status -> fence.check("a", 4)));
        assertThat(jdbc.queryForList("select 1 from lock_fence")).hasSize(5);
    }

    @ParameterizedTest
    @EnumSource
    void theLongestNameFits(TestDatabase product) {
        open(product);
        if (product == TestDatabase.MARIADB) {
            jdbc.execute(BINARY_NAMES);
        }
        String longest = "\u9501".repeat(JdbcFence.MAX_NAME_LENGTH);
        inTransaction(status -> fence.check(longest, 5));
        assertThatExceptionOfType(StaleTokenException.class)
                .isThrownBy(() -> inTransaction(status -> fence.check(longest, 4)));
    }

    @ParameterizedTest
    @EnumSource
    void aCheckRolledBackHasNotHappened(TestDatabase product) {
        open(product);
        inTransaction(status -> {
            fence.check("a", 5);
            status.setRollbackOnly();
        });
        inTransaction(status -> fence.check("a", 4));
    }

    /** The first check of all may meet another, whose row it cannot see yet. */
    @ParameterizedTest
    @CsvSource({
        "H2, 4, 5, passed, READ_COMMITTED",
        "H2, 5, 4, stale, READ_COMMITTED",
        "H2, 4, 5, again, REPEATABLE_READ",
        "H2, 5, 4, again, REPEATABLE_READ",
        "POSTGRESQL, 4, 5, passed, READ_COMMITTED",
        "POSTGRESQL, 5, 4, stale, READ_COMMITTED",
        "POSTGRESQL, 4, 5, again, REPEATABLE_READ",
        "POSTGRESQL, 5, 4, again, REPEATABLE_READ",
        "POSTGRESQL, 4, 5, again, SERIALIZABLE",
        "MARIADB, 4, 5, passed, READ_COMMITTED",
        "MARIADB, 5, 4, stale, READ_COMMITTED",
        "MARIADB, 4, 5, passed, REPEATABLE_READ",
        "MARIADB, 5, 4, stale, REPEATABLE_READ",
        "MARIADB, 4, 5, passed, SERIALIZABLE",
    })
    void twoFirstChecksAtOnceAreServedInTurn(
            TestDatabase product, long first, long second, String outcome, String isolation) throws Exception {
        open(product);
        CompletableFuture<CompletableFuture<String>> checked = new CompletableFuture<>();
        inTransaction(status -> {
            fence.check("a", first);
            CompletableFuture<String> elsewhere = checkElsewhere(level(isolation), "a", second);
            product.awaitATransactionThatWaits();
            assertThat(elsewhere).isNotDone();
            checked.complete(elsewhere);
        });
        assertThat(Actor.get(checked.join())).isEqualTo(outcome);
        inTransaction(status -> fence.check("a", Math.max(first, second)));
    }

    @ParameterizedTest
    @CsvSource({
        "H2, passed, READ_COMMITTED",
        "H2, again, REPEATABLE_READ",
        "POSTGRESQL, passed, READ_COMMITTED",
        "POSTGRESQL, again, REPEATABLE_READ",
        "POSTGRESQL, again, SERIALIZABLE",
        "MARIADB, passed, READ_COMMITTED",
        "MARIADB, passed, REPEATABLE_READ",
        "MARIADB, passed, SERIALIZABLE",
    })
    void aCheckHoldsOffNewerWritersUntilItsTransactionEnds(TestDatabase product, String outcome, String isolation)
            throws Exception {
        open(product);
        inTransaction(status -> fence.check("stock:pen", 1));
        CompletableFuture<CompletableFuture<String>> checked = new CompletableFuture<>();
        inTransaction(status -> {
            fence.check("stock:pen", 2);
            CompletableFuture<String> newer = checkElsewhere(level(isolation), "stock:pen", 3);
            product.awaitATransactionThatWaits();
            jdbc.update("update stock set amount = 2 where sku = 'pen'");
            assertThat(newer).isNotDone();
            checked.complete(newer);
        });
        assertThat(Actor.get(checked.join())).isEqualTo(outcome);
        setAmount(3, 3);
        assertThat(amount()).isEqualTo(3);
    }

    /** Whoever had to wait must not go on with what was there before. */
    @ParameterizedTest
    @CsvSource({
        "H2, READ_COMMITTED",
        "POSTGRESQL, READ_COMMITTED",
        "MARIADB, READ_COMMITTED",
        "MARIADB, REPEATABLE_READ",
    })
    void afterTheCheckTheWriteOfTheHolderBeforeIsSeen(TestDatabase product, String isolation) throws Exception {
        open(product);
        inTransaction(status -> fence.check("stock:pen", 1));
        CompletableFuture<Integer> seen = new CompletableFuture<>();
        inTransaction(status -> {
            fence.check("stock:pen", 2);
            jdbc.update("update stock set amount = 2 where sku = 'pen'");
            other.begin(() -> inTransaction(level(isolation), its -> {
                fence.check("stock:pen", 3);
                seen.complete(amount());
            }));
            product.awaitATransactionThatWaits();
        });
        assertThat(Actor.get(seen)).isEqualTo(2);
    }

    /** In repeatable read InnoDB locks the gap in which it finds no row, so both wait for the other's lock. */
    @ParameterizedTest
    @CsvSource({"a, a", "a, b"})
    void whoseFirstCheckInnoDbEndsBecauseOfADeadlockIsToldToRunItAgain(String name, String otherName) throws Exception {
        open(TestDatabase.MARIADB);
        CompletableFuture<CompletableFuture<String>> checked = new CompletableFuture<>();
        CountDownLatch gapIsLocked = new CountDownLatch(1);
        String result;
        try {
            inTransaction(TransactionDefinition.ISOLATION_REPEATABLE_READ, status -> {
                jdbc.update("update lock_fence set token = 1 where name = ?", name); // as the first step of its check
                CompletableFuture<String> elsewhere = other.start(() -> {
                    try {
                        inTransaction(TransactionDefinition.ISOLATION_REPEATABLE_READ, its -> {
                            jdbc.update("update lock_fence set token = 1 where name = ?", otherName);
                            gapIsLocked.countDown();
                            fence.check(otherName, 2);
                        });
                        return "passed";
                    } catch (ConcurrencyFailureException deadlock) {
                        return "again";
                    }
                });
                checked.complete(elsewhere);
                TestDatabase.MARIADB.awaitATransactionThatWaits();
                fence.check(name, 1);
            });
            result = "passed";
        } catch (ConcurrencyFailureException deadlock) {
            result = "again";
        }
        assertThat(result + ", " + Actor.get(checked.join())).isIn("passed, again", "again, passed");
    }

    /**
     * MariaDB 11.6 and newer have this setting by default. The driver's error is not one of those that Spring knows.
     */
    @Test
    void aCheckInAnOlderSnapshotFailsUnderSnapshotIsolation() {
        open(TestDatabase.MARIADB, "&sessionVariables=innodb_snapshot_isolation=ON");
        inTransaction(status -> fence.check("a", 4));
        assertThatExceptionOfType(DataAccessException.class)
                .isThrownBy(() -> inTransaction(TransactionDefinition.ISOLATION_REPEATABLE_READ, status -> {
                    amount(); // its snapshot begins
                    checkElsewhere(TransactionDefinition.ISOLATION_READ_COMMITTED, "a", 5)
                            .join();
                    fence.check("a", 6);
                }))
                .withStackTraceContaining("Record has changed since last read");
        inTransaction(status -> fence.check("a", 5));
    }
}
