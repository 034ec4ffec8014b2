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
 * Those who wait, in a line for each key. Who has several keys stands in several lines. Each method but {@link #all} takes the same time,
 * however many wait. Those that only read the keys may be called without the monitor.
 */
final class Lines<K, T> {

    private final Function<T, Collection<K>> keysOf;
    private final Map<K, Set<T>> lines = new ConcurrentHashMap<>();

    Lines(Function<T, Collection<K>> keysOf) {
        this.keysOf = keysOf;
    }

    boolean isEmpty() {
        return lines.isEmpty();
    }

    /** Whether anyone is in one of the lines in which this one would stand. */
    boolean isAnyoneBefore(T one) {
        return !lines.isEmpty() && keysOf.apply(one).stream().anyMatch(lines::containsKey);
    }

    /** {@return the keys with a line, also while it changes} */
    Collection<K> keys() {
        return lines.keySet();
    }

    synchronized void append(T last) {
        keysOf.apply(last)
                .forEach(key -> lines.computeIfAbsent(key, none -> new LinkedHashSet<>())
                        .add(last));
    }

    /** {@return the first in line, if it is first in its other lines, too} */
    synchronized @Nullable T next(K key) {
        T first = first(key);
        return first != null && keysOf.apply(first).stream().allMatch(each -> first(each) == first) ? first : null;
    }

    private @Nullable T first(K key) {
        Set<T> line = lines.get(key);
        return line == null ? null : line.iterator().next();
    }

    /** From any place in its lines. */
    synchronized void remove(T one) {
        keysOf.apply(one)
                .forEach(key -> lines.computeIfPresent(key, (same, line) -> {
                    line.remove(one);
                    return line.isEmpty() ? null : line;
                }));
    }

    synchronized List<T> all() {
        return lines.values().stream().flatMap(Set::stream).distinct().toList();
    }
}
