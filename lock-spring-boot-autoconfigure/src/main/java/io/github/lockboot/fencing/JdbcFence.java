package io.github.lockboot.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Savepoint;
import javax.sql.DataSource;

import io.github.lockboot.StaleTokenException;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.support.DataAccessUtils;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Rejects writes to a database by a holder that has lost its lock.
 *
 * <pre>{@code
 * lock.lock();
 * try {
 *     transactions.executeWithoutResult(status -> {
 *         fence.check("stock:" + sku, lock.fencingToken());
 *         jdbc.update("update stock set amount = ? where sku = ?", amount, sku);
 *     });
 * } finally {
 *     lock.unlock();
 * }
 * }</pre>
 *
 * <p>A row per name keeps the largest token seen. {@link #check} raises it in the caller's transaction, and the
 * database keeps the row locked until that transaction ends. So between the check and the commit no holder with a newer
 * token can write, and afterwards none with an older one. All writers must call it, before anything else in their
 * transaction. If the transaction is rolled back, so is the check.
 *
 * <p>{@link #DDL} creates the table. Where the database compares names without regard to case, as MySQL and MariaDB do
 * by default, make the column a {@code varbinary(1020)}. Names that share a row are protected all the same, but the
 * current holder of one may be rejected because of the other. A row may be deleted once no holder with an older token
 * can still run.
 *
 * <p>Thread-safe. It uses standard SQL and a savepoint, as H2, PostgreSQL and MariaDB support them. The driver may
 * count all rows that an update finds or only those that it changes. Where the database also locks missing rows, as
 * MySQL and MariaDB do for repeatable read, their default, two transactions that check new names at the same time may
 * deadlock, and the database then ends one of them. Read committed prevents that.
 */
public final class JdbcFence {

    /** Creates the table {@code lock_fence}. */
    public static final String DDL =
            "create table lock_fence (name varchar(255) not null primary key, token bigint not null)";

    /** The longest name accepted, in characters. */
    public static final int MAX_NAME_LENGTH = 255;

    private static final String RAISE = "update lock_fence set token = ? where name = ? and token <= ?";
    private static final String NEWEST = "select token from lock_fence where name = ?";

    /** Reads what is committed, even if the repeatable read of the transaction began before. */
    private static final String NEWEST_OF_ALL = NEWEST + " for update";

    private static final String INSERT = "insert into lock_fence (name, token) values (?, ?)";

    private final JdbcTemplate jdbc;

    /** @param dataSource the data source of the transactions that write */
    public JdbcFence(DataSource dataSource) {
        this.jdbc = new JdbcTemplate(dataSource);
    }

    /**
     * Accepts the token if it is the newest seen for this name, and records it. The same token is accepted any number
     * of times. Waits while another transaction that has checked the same name is active.
     *
     * @param name of the lock or of the protected resource; the same for all writers
     * @param token {@link io.github.lockboot.NamedLock#fencingToken()} or
     *     {@link io.github.lockboot.Lease#fencingToken()}
     * @throws StaleTokenException if a larger token has been seen: roll back
     * @throws IllegalStateException if no transaction of Spring is active on this thread, or one of another data source
     *     only, which cannot be known if connections of this one have auto-commit off
     * @throws IllegalArgumentException if the token is not positive, or the name is empty or longer than
     *     {@value #MAX_NAME_LENGTH} characters
     * @throws ConcurrencyFailureException if the isolation of the transaction hides another's check, or the database
     *     ended a deadlock: run it again
     * @throws DataAccessException if the database fails; the token is then not accepted
     */
    public void check(String name, long token) {
        if (token <= 0) {
            throw new IllegalArgumentException(
                    "token is " + token + "; pass the fencing token of the lock, which is positive");
        }
        if (name.isEmpty() || name.length() > MAX_NAME_LENGTH) {
            throw new IllegalArgumentException("the name has " + name.length() + " characters, 1 to " + MAX_NAME_LENGTH
                    + " are allowed; use a digest of what it names");
        }
        // A pool may turn auto-commit off for all connections, and that of another transaction may be on.
        if (!TransactionSynchronizationManager.isActualTransactionActive()
                || Boolean.TRUE.equals(jdbc.execute(Connection::getAutoCommit))) {
            throw new IllegalStateException(
                    "a fence must be checked in the transaction that writes, but none is active on this"
                            + " data source: start one first, with @Transactional or TransactionTemplate");
        }
        if (raise(name, token)) {
            return; // the row exists
        }
        if (newest(NEWEST, name) == null && insert(name, token)) {
            return; // the first check of this name
        }
        if (raise(name, token)) {
            return; // another transaction has inserted the row meanwhile
        }
        // Some drivers count only rows that change, so the row may have this token already.
        Long newest = newest(NEWEST_OF_ALL, name);
        if (newest == null || newest < token) {
            throw new ConcurrencyFailureException("the fence '" + name
                    + "' was first checked by another transaction, which this one cannot see: run it again");
        }
        if (newest > token) {
            throw new StaleTokenException(name, token, newest);
        }
    }

    private boolean raise(String name, long token) {
        return jdbc.update(RAISE, token, name, token) > 0;
    }

    private @Nullable Long newest(String query, String name) {
        return DataAccessUtils.singleResult(jdbc.queryForList(query, Long.class, name));
    }

    /**
     * Uses a savepoint, because on PostgreSQL a statement that fails ends its transaction. It stays until the
     * transaction ends: Oracle and SQL Server cannot release one.
     */
    private boolean insert(String name, long token) {
        ConnectionCallback<Boolean> insert = connection -> {
            Savepoint before = connection.setSavepoint();
            try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
                statement.setString(1, name);
                statement.setLong(2, token);
                statement.executeUpdate();
                return true;
            } catch (SQLException failure) {
                try {
                    connection.rollback(before);
                } catch (SQLException noSavepoint) { // a database that ends a deadlock rolls back the whole transaction
                    failure.addSuppressed(noSavepoint);
                }
                throw failure;
            }
        };
        try {
            return Boolean.TRUE.equals(jdbc.execute(insert));
        } catch (DuplicateKeyException anotherInserted) {
            return false;
        }
    }
}
