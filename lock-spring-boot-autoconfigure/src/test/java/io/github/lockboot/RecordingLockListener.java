package io.github.lockboot;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Writes down what it is told: {@code "acquired a ASKED"}. */
public final class RecordingLockListener implements LockRuntime.Listener {

    public final List<String> told = new CopyOnWriteArrayList<>();
    public final List<LockUse> uses = new CopyOnWriteArrayList<>();
    public final List<Thread> threads = new CopyOnWriteArrayList<>();
    public final List<Duration> times = new CopyOnWriteArrayList<>();

    private void add(LockUse use, String what, Duration time) {
        uses.add(use);
        threads.add(Thread.currentThread());
        times.add(time);
        told.add(what.replaceFirst(" ", " " + use.name() + " ").strip());
    }

    /** The last of that kind; its index is that of the other lists. */
    public int indexOf(String start) {
        for (int i = told.size() - 1; i >= 0; i--) {
            if (told.get(i).startsWith(start)) {
                return i;
            }
        }
        throw new AssertionError(start + " is not in " + told);
    }

    public void clear() {
        told.clear();
        uses.clear();
        threads.clear();
        times.clear();
    }

    public void await(String what) {
        Actor.await(what + " is told", () -> told.contains(what));
    }

    @Override
    public void requested(LockUse use) {
        add(use, "requested ", Duration.ZERO);
    }

    @Override
    public void acquired(LockUse use, Origin origin, Duration waited) {
        add(use, "acquired " + origin, waited);
    }

    @Override
    public void notAcquired(LockUse use, Duration waited) {
        add(use, "notAcquired ", waited);
    }

    @Override
    public void abandoned(LockUse use, Duration waited) {
        add(use, "abandoned ", waited);
    }

    @Override
    public void ended(LockUse use, Outcome outcome, Duration time) {
        add(use, outcome + " ", time);
    }

    @Override
    public void unavailable(LockUse use, Duration waited) {
        add(use, "unavailable ", waited);
    }

    @Override
    public void released(LockUse use, Duration held, boolean known) {
        add(use, "released " + (known ? "" : "unknown"), held);
    }

    @Override
    public void lost(LockUse use, Duration held, String reason) {
        add(use, "lost " + reason, held);
    }

    @Override
    public void stuck(LockUse use, Duration held) {
        add(use, "stuck ", held);
    }

    @Override
    public void renewed(LockUse use) {
        add(use, "renewed ", Duration.ZERO);
    }

    @Override
    public void renewalFailed(LockUse use) {
        add(use, "renewalFailed ", Duration.ZERO);
    }
}
