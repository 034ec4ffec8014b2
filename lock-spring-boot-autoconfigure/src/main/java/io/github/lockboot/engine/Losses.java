package io.github.lockboot.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

/** The holds that threads of a registry have lost and not released. Those of threads that have ended are forgotten in time. */
final class Losses {

    private static final int FEW = 64;

    private record Place(Thread thread, String name) {}

    /** The newest loss of a thread and name is the first. */
    private final Map<Place, List<Hold>> byPlace = new ConcurrentHashMap<>();

    private volatile int lookedThroughAt = 2 * FEW;

    /** The hold was lost, or has entered the list of its thread or left it. What comes last decides. */
    void update(Hold changed) {
        Thread thread = changed.thread();
        if (thread == null) {
            return;
        }
        byPlace.compute(new Place(thread, changed.name()), (place, known) -> {
            List<Hold> holds = new ArrayList<>(known == null ? List.of() : known);
            holds.remove(changed);
            if (changed.isLostInList()) {
                holds.add(0, changed);
            }
            return holds.isEmpty() ? null : List.copyOf(holds);
        });
        if (byPlace.size() >= lookedThroughAt) {
            byPlace.keySet().removeIf(place -> !place.thread().isAlive());
            lookedThroughAt = 2 * Math.max(FEW, byPlace.size());
        }
    }

    /** The newest hold of that name that the thread has lost and not released. */
    @Nullable
    Hold of(Thread thread, String name) {
        List<Hold> holds = byPlace.get(new Place(thread, name));
        return holds == null ? null : holds.get(0);
    }

    /** The number of names, for each thread. */
    int size() {
        return byPlace.size();
    }
}
