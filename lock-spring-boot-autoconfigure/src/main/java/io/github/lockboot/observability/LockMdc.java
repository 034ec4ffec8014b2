package io.github.lockboot.observability;

import io.github.lockboot.LockListener;
import io.github.lockboot.LockUse;
import io.github.lockboot.internal.LockNames;
import org.slf4j.MDC;

/** Adds the lock to the logging context while code runs under it. */
public final class LockMdc implements LockListener {

    /**
     * The key of the entry. Its value is the group and a digest of the name, {@code order#6a09e667f3bc}, or the name.
     */
    public static final String KEY = "lock";

    private final boolean plainNames;

    /** @param plainNames whether the value is the name itself, with control characters escaped */
    public LockMdc(boolean plainNames) {
        this.plainNames = plainNames;
    }

    @Override
    public Runnable entering(LockUse use) {
        String outer = MDC.get(KEY);
        MDC.put(KEY, textOf(use));
        return outer == null ? () -> MDC.remove(KEY) : () -> MDC.put(KEY, outer);
    }

    private String textOf(LockUse use) {
        if (plainNames) {
            return LockNames.printable(use.name());
        }
        String digest = LockNames.digest(use.name());
        return use.group() == null ? digest : LockNames.printable(use.group()) + "#" + digest;
    }
}
