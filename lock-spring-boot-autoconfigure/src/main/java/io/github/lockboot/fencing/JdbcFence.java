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

/**
 * Refuses, in a database, what the holder of a lock writes after it has lost it.
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
 * <p>A row per name keeps the largest token seen. {@link #check} raises it in the caller's transaction, and the database keeps
 * the row locked until that ends: between the check and the commit nobody with a newer token can write, and afterwards nobody
 * with an older one. So all writers must check, and first thing in their transaction. Rolled back, a check has not happened.
 *
 * <p>The table is made by {@link #DDL}. Where names are compared without regard to case, as MySQL does by default, give the
 * column a binary collation; names that share a row are guarded all the same, but the current holder of one may be refused
 * for the sake of the other. A row may be deleted once no holder can be about that got its token before.
 *
 * <p>Thread-safe. Standard SQL and a savepoint, which H2, PostgreSQL and MySQL know. It does not matter whether the driver counts
 * rows that an update finds or only those that it changes. Where a missing row is locked too, as by
 * MySQL's repeatable read, one of two transactions that check a new name at once may be ended as a deadlock's victim.
 */
public final class JdbcFence {

    /** Makes the table {@code lock_fence}. */
    public static final String DDL =
            "create table lock_fence (name varchar(255) not null primary key, token bigint not null)";

    /** The longest name accepted, in characters. */
    public static final int MAX_NAME_LENGTH = 255;

    private static final String RAISE = "update lock_fence set token = ? where name = ? and token <= ?";
    private static final String NEWEST = "select token from lock_fence where name = ?";

    /** What is committed, not what was when a repeatable read began. */
    private static final String NEWEST_OF_ALL = NEWEST + " for update";

    private static final String INSERT = "insert into lock_fence (name, token) values (?, ?)";

    private final JdbcTemplate jdbc;

    /** @param dataSource that of the transactions in which is written */
    public JdbcFence(DataSource dataSource) {
        this.jdbc = new JdbcTemplate(dataSource);
    }

    /**
     * Lets pass whoever holds the lock by all the database knows, and remembers the token. The same token passes any number of
     * times. Waits while a transaction that has checked the same name is under way.
     *
     * @param name of the lock, or of the guarded resource; the same for all who write there
     * @param token {@link io.github.lockboot.NamedLock#fencingToken()} or {@link io.github.lockboot.Lease#fencingToken()}
     * @throws StaleTokenException if a larger token has been seen: roll back
     * @throws IllegalStateException if no transaction is active on this thread
     * @throws IllegalArgumentException if the name is empty or longer than {@value #MAX_NAME_LENGTH} characters
     * @throws ConcurrencyFailureException if the isolation of the transaction hides another's check: run it again
     * @throws DataAccessException if the database fails; it has not let pass then
     */
    public void check(String name, long token) {
        if (name.isEmpty() || name.length() > MAX_NAME_LENGTH) {
            throw new IllegalArgumentException("the name has " + name.length() + " characters, 1 to " + MAX_NAME_LENGTH
                    + " are allowed; use a digest of what it names");
        }
        requireTransaction();
        if (!raise(name, token) && !(newest(NEWEST, name) == null && insert(name, token)) && !raise(name, token)) {
            checkNewest(name, token);
        }
    }

    /** No row was counted as raised. Passes if the row has this token already: some drivers count only rows that change. */
    private void checkNewest(String name, long token) {
        Long newest = newest(NEWEST_OF_ALL, name);
        if (newest == null || newest < token) {
            throw new ConcurrencyFailureException("the fence '" + name
                    + "' was first checked by another transaction, which this one cannot see: run it again");
        }
        if (newest > token) {
            throw new StaleTokenException(name, token, newest);
        }
    }

    private void requireTransaction() {
        if (Boolean.TRUE.equals(jdbc.execute(Connection::getAutoCommit))) {
            throw new IllegalStateException(
                    "a fence is checked in the transaction that writes, and none is active on this"
                            + " data source: begin one before, by @Transactional or TransactionTemplate");
        }
    }

    private boolean raise(String name, long token) {
        return jdbc.update(RAISE, token, name, token) > 0;
    }

    private @Nullable Long newest(String query, String name) {
        return DataAccessUtils.singleResult(jdbc.queryForList(query, Long.class, name));
    }

    /** @return false if another has inserted a row of that name */
    private boolean insert(String name, long token) {
        try {
            jdbc.execute((ConnectionCallback<Void>) connection -> {
                insert(connection, name, token);
                return null;
            });
            return true;
        } catch (DuplicateKeyException another) {
            return false;
        }
    }

    /** With a savepoint, for on PostgreSQL a statement that fails ends its transaction. */
    private static void insert(Connection connection, String name, long token) throws SQLException {
        Savepoint before = connection.setSavepoint();
        try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
            insert.setString(1, name);
            insert.setLong(2, token);
            insert.executeUpdate();
            connection.releaseSavepoint(before);
        } catch (SQLException failure) {
            connection.rollback(before);
            throw failure;
        }
    }
}
