package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockboot.LockRuntime;
import io.github.lockboot.LockUse;

/** The locks that this instance holds or waits for, since the endpoint that shows them is there. */
final class LocksInUse implements LockRuntime.Listener {

    private final Map<LockUse, Step> uses = new ConcurrentHashMap<>();

    /** Where a use stands, and since when. */
    record Step(LockUse use, boolean held, Instant since) {}

    /** The oldest first. */
    List<Step> steps() {
        return uses.values().stream().sorted(Comparator.comparing(Step::since)).toList();
    }

    @Override
    public void requested(LockUse use) {
        uses.put(use, new Step(use, false, Instant.now()));
    }

    @Override
    public void acquired(LockUse use, Origin origin, Duration waited) {
        // Not if its end has been told already.
        uses.computeIfPresent(use, (same, waiting) -> new Step(use, true, Instant.now()));
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
