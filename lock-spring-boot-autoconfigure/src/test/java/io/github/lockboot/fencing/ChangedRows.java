package io.github.lockboot.fencing;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import javax.sql.DataSource;

/** A database that counts, of the rows which an update of a fence finds, only those that it changes. */
final class ChangedRows {

    private ChangedRows() {}

    static DataSource onlyOf(DataSource database) {
        return proxy(DataSource.class, (proxy, method, args) -> {
            Object result = invoke(database, method, args);
            return result instanceof Connection connection ? counting(connection) : result;
        });
    }

    private static Connection counting(Connection connection) {
        return proxy(Connection.class, (proxy, method, args) -> {
            Object result = invoke(connection, method, args);
            boolean update = result instanceof PreparedStatement && ((String) args[0]).startsWith("update lock_fence ");
            return update ? counting(connection, (PreparedStatement) result) : result;
        });
    }

    private static PreparedStatement counting(Connection connection, PreparedStatement update) {
        Map<Object, Object> parameters = new HashMap<>();
        return proxy(PreparedStatement.class, (proxy, method, args) -> {
            if (method.getName().startsWith("set") && args.length > 1) {
                parameters.put(args[0], args[1]);
            }
            boolean same = method.getName().equals("executeUpdate")
                    && parameters.get(1).equals(token(connection, (String) parameters.get(2)));
            Object result = invoke(update, method, args);
            return same ? Integer.valueOf(0) : result;
        });
    }

    private static Object token(Connection connection, String name) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement("select token from lock_fence where name = ?")) {
            select.setString(1, name);
            try (ResultSet rows = select.executeQuery()) {
                return rows.next() ? rows.getLong(1) : null;
            }
        }
    }

    private static Object invoke(Object target, Method method, Object[] args) throws Throwable {
        try {
            return method.invoke(target, args);
        } catch (InvocationTargetException failure) {
            throw failure.getTargetException();
        }
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(ChangedRows.class.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
