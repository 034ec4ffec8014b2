package io.github.lockboot.redis.engine;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

import io.github.lockboot.internal.Unexpected;
import org.jspecify.annotations.Nullable;

/** Reports that a hold was lost: one warning in the log, the hold's callbacks, and its thread when it comes to unlock. */
final class LossReporter {

    /** Of threads that never come to unlock what they lost, the oldest are forgotten beyond this many. */
    private static final int MOST_REMEMBERED = 1_000;

    private record Owner(String name, Thread thread) {}

    private final EngineContext context;
    private final Map<Owner, Hold> unclaimed = new LinkedHashMap<>();

    LossReporter(EngineContext context) {
        this.context = context;
    }

    void report(Hold hold) {
        try {
            Thread owner = hold.owner();
            if (owner != null && owner.isAlive()) {
                remember(hold, owner);
            }
            Throwable stuckAt = owner != null && hold.isOverdue() ? whereStuck(owner) : null;
            // Not on this thread, which may be the timer's: a log may block.
            context.runLater(() -> context.log().lost(hold.name(), hold.fencingToken(), hold.lossReason(), stuckAt));
            hold.waiter().use().lost(hold.lossReason());
        } catch (Throwable thrown) {
            Unexpected.failure("when a loss was reported", thrown);
        }
        hold.runLossCallbacks();
    }

    /** The hold of that name that the thread lost and has not been told of. */
    synchronized @Nullable Hold lossOf(String name, Thread thread) {
        return unclaimed.get(new Owner(name, thread));
    }

    /** Its thread has been told. */
    synchronized void acknowledge(Hold hold) {
        Thread owner = hold.owner();
        if (owner != null) {
            unclaimed.remove(new Owner(hold.name(), owner), hold);
        }
    }

    private synchronized void remember(Hold hold, Thread owner) {
        unclaimed.keySet().removeIf(known -> !known.thread().isAlive());
        unclaimed.put(new Owner(hold.name(), owner), hold);
        Iterator<Owner> oldest = unclaimed.keySet().iterator();
        while (unclaimed.size() > MOST_REMEMBERED && oldest.hasNext()) {
            oldest.next();
            oldest.remove();
        }
    }

    private static Throwable whereStuck(Thread owner) {
        Throwable where = new Throwable("held beyond lock.max-hold by thread " + owner.getName());
        where.setStackTrace(owner.getStackTrace());
        return where;
    }
}
