package org.example.docs;

import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import javax.sql.DataSource;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.FencingToken;
import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.StaleTokenException;
import io.github.lockboot.fencing.JdbcFence;
import io.github.lockboot.redis.RedisFence;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.context.TestPropertySource;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What docs/transactions.md shows of fencing, with a holder that was paused for too long. */
@TestPropertySource(properties = "spring.datasource.url=jdbc:h2:mem:fencing;DB_CLOSE_DELAY=-1")
class FencingTests extends OnRedis {

    private static final LockOptions FIXED =
            LockOptions.defaults().withTtl(Duration.ofSeconds(1)).withoutRenewal();

    @Autowired
    private JdbcFence fence;

    @Autowired
    private RedisFence redisFence;

    @Autowired
    private JdbcTemplate jdbc;

    @Autowired
    private TransactionTemplate transactions;

    @Autowired
    private Stock stock;

    private final String sku = UUID.randomUUID().toString().substring(0, 8);

    @BeforeEach
    void createTables() {
        jdbc.execute("drop table if exists lock_fence");
        jdbc.execute("drop table if exists stock");
        jdbc.execute(JdbcFence.DDL);
        jdbc.execute("create table stock (sku varchar(9) primary key, amount int, token bigint default 0 not null)");
        jdbc.update("insert into stock (sku, amount) values (?, 10)", sku);
    }

    @Test
    void theLateWriteOfAPausedHolderIsRefusedByTheDatabase() throws Exception {
        NamedLock lock = registry.get("stock:" + sku, FIXED);
        lock.lock();
        long late = lock.fencingToken();
        try (Lease next = anotherInstance().acquire("stock:" + sku)) { // its lease has run out
            write(7, next.fencingToken());
        }
        assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> write(9, late));
        assertThat(amount()).isEqualTo(7);
        assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
    }

    private void write(int amount, long token) {
        // tag::jdbc
        transactions.executeWithoutResult(status -> {
            fence.check("stock:" + sku, token); // first thing in the transaction that writes
            jdbc.update("update stock set amount = ? where sku = ?", amount, sku);
        });
        // end::jdbc
    }

    @Test
    void aTokenInTheRowItselfNeedsNoFence() throws Exception {
        long late;
        try (Lease first = registry.acquire("stock:" + sku, ONCE)) {
            late = first.fencingToken();
        }
        try (Lease next = registry.acquire("stock:" + sku, ONCE)) {
            assertThat(writeWithToken(7, next.fencingToken())).isTrue();
        }
        assertThat(writeWithToken(9, late)).isFalse();
        assertThat(amount()).isEqualTo(7);
    }

    private boolean writeWithToken(int amount, long token) {
        // tag::column
        int written = jdbc.update(
                "update stock set amount = ?, token = ? where sku = ? and token <= ?", amount, token, sku, token);
        boolean refused = written == 0; // a holder with a newer token has written
        // end::column
        return !refused;
    }

    @Test
    void theLateWriteOfAPausedHolderIsRefusedByRedis() throws Exception {
        String price = "4.20";
        // tag::redis
        NamedLock lock = registry.get("price:" + sku);
        lock.lock();
        try {
            redisFence.set("price-of:" + sku, price, lock.fencingToken(), Duration.ofHours(1));
        } finally {
            lock.unlock();
        }
        // end::redis
        assertThat(redisFence.get("price-of:" + sku)).isEqualTo("4.20");
        assertThatExceptionOfType(StaleTokenException.class)
                .isThrownBy(() -> redisFence.set("price-of:" + sku, "9.99", 1, Duration.ofHours(1)));
    }

    @Test
    void theAnnotationPassesTheToken() {
        stock.set(sku, 3, 0);
        assertThat(amount()).isEqualTo(3);
    }

    @Test
    void thePageShowsTheTable() {
        Path sql = Page.ROOT.resolve("testing/snippets/src/test/resources/snippets/lock_fence.sql");
        assertThat(String.join(" ", Regions.leftmost(Page.read(sql).lines())).replaceAll("\\s+", " "))
                .isEqualTo(JdbcFence.DDL.replace("(name", "( name").replace("bigint not null)", "bigint not null );"));
    }

    private int amount() {
        Integer amount = jdbc.queryForObject("select amount from stock where sku = ?", Integer.class, sku);
        return amount == null ? 0 : amount;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Fences.class, Stock.class})
    static class Application {}
}

// tag::beans
@Configuration(proxyBeanMethods = false)
class Fences {

    @Bean
    JdbcFence jdbcFence(DataSource database) {
        return new JdbcFence(database);
    }

    @Bean
    RedisFence redisFence(RedisConnectionFactory redis) {
        return new RedisFence(redis);
    }
}
// end::beans

class Stock {

    private final TransactionTemplate transactions;
    private final JdbcFence fence;
    private final JdbcTemplate jdbc;

    Stock(TransactionTemplate transactions, JdbcFence fence, JdbcTemplate jdbc) {
        this.transactions = transactions;
        this.fence = fence;
        this.jdbc = jdbc;
    }

    // tag::annotation
    @DistributedLock(name = "stock", key = "#sku")
    public void set(String sku, int amount, @FencingToken long token) { // called as set(sku, amount, 0)
        transactions.executeWithoutResult(status -> {
            fence.check("stock:" + sku, token);
            jdbc.update("update stock set amount = ? where sku = ?", amount, sku);
        });
    }
    // end::annotation
}
