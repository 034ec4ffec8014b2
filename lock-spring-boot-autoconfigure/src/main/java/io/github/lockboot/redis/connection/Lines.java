package io.github.lockboot.redis.connection;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * Those who wait, in a line for each key. Each method but {@link #all} takes the same time, however many wait. Those that only read the
 * keys may be called without the monitor.
 */
final class Lines<K, T> {

    private final Function<T, K> keyOf;
    private final Map<K, Set<T>> lines = new ConcurrentHashMap<>();

    Lines(Function<T, K> keyOf) {
        this.keyOf = keyOf;
    }

    boolean isEmpty() {
        return lines.isEmpty();
    }

    /** Whether anyone is in the line in which this one would stand. */
    boolean isAnyoneBefore(T one) {
        return !lines.isEmpty() && lines.containsKey(keyOf.apply(one));
    }

    /** {@return the keys with a line, also while it changes} */
    Collection<K> keys() {
        return lines.keySet();
    }

    synchronized void append(T last) {
        lines.computeIfAbsent(keyOf.apply(last), none -> new LinkedHashSet<>()).add(last);
    }

    /** {@return the first in line} */
    synchronized @Nullable T next(K key) {
        Set<T> line = lines.get(key);
        return line == null ? null : line.iterator().next();
    }

    /** From any place in its line. */
    synchronized void remove(T one) {
        lines.computeIfPresent(keyOf.apply(one), (same, line) -> {
            line.remove(one);
            return line.isEmpty() ? null : line;
        });
    }

    synchronized List<T> all() {
        return lines.values().stream().flatMap(Set::stream).toList();
    }
}
