package io.github.lockboot.redis;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/** Tells that a hold was lost: one warning in the log, the hold's callbacks, and its thread when it comes to unlock. */
final class LossReporter {

    private static final Log log = LogFactory.getLog(RedisLock.class);

    /** Of threads that never come to unlock what they lost, the oldest are forgotten beyond this many. */
    private static final int MOST_REMEMBERED = 1_000;

    private record Owner(String name, Thread thread) {}

    private final Executor workers;
    private final Map<Owner, Hold> unclaimed = new LinkedHashMap<>();

    LossReporter(Executor workers) {
        this.workers = workers;
    }

    void report(Hold hold) {
        Thread owner = hold.owner();
        if (owner != null) {
            remember(hold, owner);
        }
        warn(hold, owner);
        runCallbacks(hold);
    }

    void runCallbacks(Hold hold) {
        List<Runnable> callbacks = hold.takeLossCallbacks();
        if (!callbacks.isEmpty()) {
            workers.execute(() -> callbacks.forEach(LossReporter::run));
        }
    }

    /** The hold of that name that the thread lost and has not been told of. */
    synchronized @Nullable Hold of(String name, Thread thread) {
        return unclaimed.get(new Owner(name, thread));
    }

    synchronized void forget(Hold hold) {
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

    private static void warn(Hold hold, @Nullable Thread owner) {
        String text = "Lock lost: name digest " + digest(hold.name()) + ", fencing token " + hold.fencingToken() + ": "
                + hold.lossReason();
        if (owner != null && hold.isOverdue()) {
            Throwable where = new Throwable("held beyond lock.max-hold by thread " + owner.getName());
            where.setStackTrace(owner.getStackTrace());
            log.warn(text, where);
        } else {
            log.warn(text);
        }
    }

    private static void run(Runnable callback) {
        try {
            callback.run();
        } catch (RuntimeException | Error failure) {
            log.warn("A callback for a lost lock failed", failure);
        }
    }

    /** Names may be personal data. */
    static String digest(String name) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash, 0, 6);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
