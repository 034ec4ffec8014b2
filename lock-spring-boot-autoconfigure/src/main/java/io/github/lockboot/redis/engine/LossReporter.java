package io.github.lockboot.redis.engine;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

import io.github.lockboot.internal.Unexpected;
import org.jspecify.annotations.Nullable;

/** Reports that a hold was lost: by one warning in the log, by its callbacks, and by an exception when its thread unlocks. */
final class LossReporter {

    /** Some threads never unlock what they lost. Beyond this many, the oldest are forgotten. */
    private static final int MOST_REMEMBERED = 1_000;

    private record Loser(String name, Thread thread) {}

    private final EngineContext context;
    private final Map<Loser, Hold> unclaimed = new LinkedHashMap<>();

    LossReporter(EngineContext context) {
        this.context = context;
    }

    void report(Hold hold) {
        try {
            Thread thread = hold.thread();
            Throwable stuckAt = thread != null && hold.isHeldTooLong() ? whereStuck(thread) : null;
            // Not on this thread, which may be the timer's: a log may block.
            context.runLater(() -> context.log().lost(hold.name(), hold.fencingToken(), hold.lossReason(), stuckAt));
            hold.waiter().use().lost(hold.lossReason());
        } catch (Throwable thrown) {
            Unexpected.failure("when a loss was reported", thrown);
        }
        Unexpected.attempt("when the callbacks of a loss were run", hold::runLossCallbacks);
    }

    /** The hold of that name that the thread lost and did not have an exception for. */
    synchronized @Nullable Hold lossOf(String name, Thread thread) {
        return unclaimed.get(new Loser(name, thread));
    }

    /** Its thread has had the exception. */
    synchronized void acknowledge(Hold hold) {
        Thread thread = hold.thread();
        if (thread != null) {
            unclaimed.remove(new Loser(hold.name(), thread), hold);
        }
    }

    /** Remembers the loss for the hold's thread, until that has had the exception or has ended. */
    synchronized void remember(Hold hold) {
        Thread thread = hold.thread();
        if (thread == null || !thread.isAlive()) {
            return;
        }
        unclaimed.keySet().removeIf(known -> !known.thread().isAlive());
        unclaimed.put(new Loser(hold.name(), thread), hold);
        Iterator<Loser> oldest = unclaimed.keySet().iterator();
        while (unclaimed.size() > MOST_REMEMBERED && oldest.hasNext()) {
            oldest.next();
            oldest.remove();
        }
    }

    private static Throwable whereStuck(Thread thread) {
        Throwable where = new Throwable("held beyond lock.max-hold by thread " + thread.getName());
        where.setStackTrace(thread.getStackTrace());
        return where;
    }
}
