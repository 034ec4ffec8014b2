package io.github.lockboot.internal;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Who listens to announcements, by name. Thread-safe. */
public final class Announcements {

    private final Map<String, Set<Runnable>> listeners = new ConcurrentHashMap<>();

    /** {@return ends the listening} */
    public Runnable listen(String name, Runnable listener) {
        listeners.compute(name, (same, present) -> {
            Set<Runnable> all = present != null ? present : ConcurrentHashMap.newKeySet();
            all.add(listener);
            return all;
        });
        return () -> listeners.computeIfPresent(name, (same, present) -> {
            present.remove(listener);
            return present.isEmpty() ? null : present;
        });
    }

    /** Calls the listeners of this name. */
    public void announced(String name) {
        listeners
                .getOrDefault(name, Set.of())
                .forEach(listener -> Failures.runAndLog("when a value was announced", listener));
    }
}
