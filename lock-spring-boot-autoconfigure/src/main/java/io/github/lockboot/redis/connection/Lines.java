package io.github.lockboot.redis.connection;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

/**
 * Those who wait, in a line for each key. However many wait, each method but {@link #all} takes the same time. What only reads may
 * be called without the monitor.
 */
final class Lines<K, T> {

    private final Map<K, Set<T>> lines = new ConcurrentHashMap<>();

    boolean isEmpty() {
        return lines.isEmpty();
    }

    boolean isAnyoneIn(K key) {
        return lines.containsKey(key);
    }

    /** {@return the keys with a line, also while it changes} */
    Collection<K> keys() {
        return lines.keySet();
    }

    synchronized void append(K key, T last) {
        lines.computeIfAbsent(key, none -> new LinkedHashSet<>()).add(last);
    }

    synchronized @Nullable T first(K key) {
        Set<T> line = lines.get(key);
        return line == null ? null : line.iterator().next();
    }

    /** From any place in the line. */
    synchronized void remove(K key, T one) {
        Set<T> line = lines.get(key);
        if (line != null && line.remove(one) && line.isEmpty()) {
            lines.remove(key);
        }
    }

    synchronized List<T> all() {
        return lines.values().stream().flatMap(Set::stream).toList();
    }
}
