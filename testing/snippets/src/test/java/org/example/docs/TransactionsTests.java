package org.example.docs;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockLostException;
import io.github.lockboot.fixture.Await;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.context.TestPropertySource;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What docs/transactions.md shows. */
@TestPropertySource(properties = "spring.datasource.url=jdbc:h2:mem:transactions;DB_CLOSE_DELAY=-1")
class TransactionsTests extends OnRedis {

    @Autowired
    private Accounts accounts;

    @Autowired
    private JdbcTemplate jdbc;

    @Autowired
    private TransactionTemplate transactions;

    @BeforeEach
    void createTable() {
        jdbc.execute("drop table if exists account");
        jdbc.execute("create table account (id varchar(9) primary key, balance int)");
        jdbc.update("insert into account values ('a', 0)");
    }

    @Test
    void readAddAndWriteIsOneStepThoughTheDatabaseWouldNotMakeItOne() throws Exception {
        atOnce(8, () -> {
            accounts.deposit("a", 1);
            return null;
        });
        assertThat(balance()).isEqualTo(8);
    }

    @Test
    void aTransactionInsideTheLock() throws Exception {
        atOnce(8, () -> {
            String id = "a";
            // tag::template
            template.executeWithoutResult("account:" + id, () -> {
                transactions.executeWithoutResult(status -> {
                    int balance = balance();
                    jdbc.update("update account set balance = ? where id = ?", balance + 1, id);
                });
            });
            // end::template
            return null;
        });
        assertThat(balance()).isEqualTo(8);
    }

    @Test
    void aLockLostInsideATransactionRollsItBack() {
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(() -> transactions.executeWithoutResult(status -> {
                    accounts.depositWithin("a", 5);
                    redis("DEL", "lock:account:a");
                    awaitLoss();
                }));
        assertThat(balance()).isZero();
    }

    @Test
    void aTemplateInsideATransactionReleasesBeforeTheCommit() {
        transactions.executeWithoutResult(status -> {
            template.execute("account:a", () -> jdbc.update("update account set balance = 1 where id = 'a'"));
            assertThat(registry.get("account:a").isLocked()).isFalse();
        });
        assertThat(balance()).isOne();
    }

    /** The renewal that is due after a third of the lease finds it gone. */
    private void awaitLoss() {
        Await.until("the loss", () -> !registry.get("account:a").isHeldByCurrentThread());
    }

    private int balance() {
        Integer balance = jdbc.queryForObject("select balance from account where id = 'a'", Integer.class);
        return balance == null ? 0 : balance;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Accounts.class)
    static class Application {}
}

class Accounts {

    private final JdbcTemplate jdbc;

    Accounts(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    // tag::annotation
    @DistributedLock(name = "account", key = "#id")
    @Transactional
    public void deposit(String id, int amount) { // lock, begin, body, commit, release
        int balance = read(id);
        write(id, balance + amount);
    }
    // end::annotation

    @DistributedLock(name = "account", key = "#id", ttl = "1s")
    public void depositWithin(String id, int amount) {
        write(id, read(id) + amount);
    }

    private int read(String id) {
        Integer balance = jdbc.queryForObject("select balance from account where id = ?", Integer.class, id);
        return balance == null ? 0 : balance;
    }

    private void write(String id, int balance) {
        jdbc.update("update account set balance = ? where id = ?", balance, id);
    }
}
