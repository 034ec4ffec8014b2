package io.github.lockboot.autoconfigure.actuate;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockboot.LockRuntime;
import io.github.lockboot.LockUse;

/** The locks that this instance holds or waits for. Uses that began before this listener was added are unknown. */
final class LocksInUse implements LockRuntime.Listener {

    private final Map<LockUse, Step> uses = new ConcurrentHashMap<>();
    private final InstantSource clock;

    /** A use that waits or holds since a point in time. */
    record Step(LockUse use, boolean held, Instant since) {}

    LocksInUse(InstantSource clock) {
        this.clock = clock;
    }

    /** In order of age. */
    List<Step> steps() {
        return uses.values().stream().sorted(Comparator.comparing(Step::since)).toList();
    }

    @Override
    public void requested(LockUse use) {
        uses.put(use, new Step(use, false, clock.instant()));
    }

    @Override
    public void acquired(LockUse use, Origin origin, Duration waited) {
        // Its end may have been reported first.
        uses.computeIfPresent(use, (same, waiting) -> new Step(use, true, clock.instant()));
    }

    @Override
    public void notAcquired(LockUse use, Duration waited) {
        uses.remove(use);
    }

    @Override
    public void abandoned(LockUse use, Duration waited) {
        uses.remove(use);
    }

    @Override
    public void followed(LockUse use, Duration waited) {
        uses.remove(use);
    }

    @Override
    public void unavailable(LockUse use, Duration waited) {
        uses.remove(use);
    }

    @Override
    public void released(LockUse use, Duration held, boolean known) {
        uses.remove(use);
    }

    @Override
    public void lost(LockUse use, Duration held, String reason) {
        uses.remove(use);
    }
}
