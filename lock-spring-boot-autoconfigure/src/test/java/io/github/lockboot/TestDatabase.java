package io.github.lockboot;

import java.util.EnumMap;
import java.util.Map;
import javax.sql.DataSource;

import io.github.lockboot.fixture.DatabaseServer;
import io.github.lockboot.fixture.DatabaseServer.Product;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** The databases that tests run on. A server runs until the JVM ends, so a test drops its tables. */
public enum TestDatabase {
    /** A session that waits for another's insert has no blocker there. */
    H2("select 1 from information_schema.sessions where blocker_id is not null"
            + " or executing_statement like 'insert into lock_fence%'"),
    POSTGRESQL("select 1 from pg_stat_activity where wait_event_type = 'Lock'"),
    MARIADB("select 1 from information_schema.global_status"
            + " where variable_name = 'innodb_row_lock_current_waits' and variable_value > 0");

    private static final Map<Product, DatabaseServer> SERVERS = new EnumMap<>(Product.class);

    private final String waiting;

    TestDatabase(String waiting) {
        this.waiting = waiting;
    }

    /** A new connection for each transaction. Skips the test if the server is not installed. */
    public DataSource open() {
        return open("");
    }

    /** @param properties of the driver, for example {@code &useAffectedRows=true} */
    public DataSource open(String properties) {
        return new DriverManagerDataSource(url() + properties);
    }

    private String url() {
        if (this == H2) {
            return "jdbc:h2:mem:test-database;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=30000";
        }
        Product product = Product.valueOf(name());
        assumeTrue(product.isInstalled(), "Transactions on " + this + ": " + product.missing());
        synchronized (SERVERS) {
            return SERVERS.computeIfAbsent(product, DatabaseServer::start).url();
        }
    }

    /** Returns when a transaction waits for another. It asks on a connection of its own. */
    public void awaitATransactionThatWaits() {
        SingleConnectionDataSource asking = new SingleConnectionDataSource(url(), true);
        try {
            JdbcTemplate jdbc = new JdbcTemplate(asking);
            Actor.await("a transaction waits", () -> !jdbc.queryForList(waiting).isEmpty());
        } finally {
            asking.destroy();
        }
    }
}
