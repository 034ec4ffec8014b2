package io.github.lockboot;

import java.time.Duration;
import java.util.Optional;

import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;

/**
 * A lock under which code runs, for that code to ask: {@code LockContext.current().fencingToken()}. The annotation sets it for
 * the thread that runs the method's body and clears it afterwards; in reactive code it is also in the Reactor context, under
 * this class as its key.
 *
 * <p>A lock of a thread answers to that thread only; one of a {@link Lease} answers to every thread.
 */
public final class LockContext {

    private static final ThreadLocal<@Nullable Frame> CURRENT = new ThreadLocal<>();

    private record Frame(LockContext context, @Nullable Frame outer) {}

    private final Lease hold;

    /** @param hold a lease, or a {@link ThreadHold} */
    LockContext(Lease hold) {
        this.hold = hold;
    }

    /**
     * {@return the innermost lock of this thread's annotated methods}
     *
     * @throws IllegalStateException if none is being run
     */
    public static LockContext current() {
        Frame frame = CURRENT.get();
        if (frame == null) {
            throw new IllegalStateException("no @DistributedLock method runs on thread "
                    + Thread.currentThread().getName() + ": was it called from within its own bean, past the proxy?");
        }
        return frame.context;
    }

    /**
     * {@return the lock of that name of this thread's annotated methods}
     *
     * @param name the whole name, key included
     * @throws IllegalStateException if none is being run under it
     */
    public static LockContext current(String name) {
        for (Frame frame = CURRENT.get(); frame != null; frame = frame.outer) {
            if (frame.context.name().equals(name)) {
                return frame.context;
            }
        }
        throw new IllegalStateException("no @DistributedLock method runs under lock '" + LockNames.printable(name)
                + "' on thread " + Thread.currentThread().getName());
    }

    /**
     * As {@link #current()}, but empty if none is being run.
     *
     * @return it, or nothing
     */
    public static Optional<LockContext> find() {
        return Optional.ofNullable(CURRENT.get()).map(Frame::context);
    }

    /** Runs the action with this as the {@link #current() current} lock of the thread. */
    <T extends @Nullable Object, E extends Throwable> T call(LockScope.Body<T, E> action) throws E {
        Frame outer = CURRENT.get();
        CURRENT.set(new Frame(this, outer));
        try {
            return LockScope.call(hold, action);
        } finally {
            if (outer != null) {
                CURRENT.set(outer);
            } else {
                CURRENT.remove();
            }
        }
    }

    /** {@return the name of the lock, key included} */
    public String name() {
        return hold.name();
    }

    /**
     * {@return the fencing token: larger than that of every earlier hold of this name}
     *
     * @throws IllegalMonitorStateException if it is not held; {@link LockLostException} if it was lost
     */
    public long fencingToken() {
        return hold.fencingToken();
    }

    /** {@return how long the lease lasts for certain unless renewed; zero when it is not held any more} */
    public Duration remainingLease() {
        return hold.remainingLease();
    }

    /** {@return whether the lock is held and its lease cannot have run out yet} Ask it before a step that cannot be undone. */
    public boolean isValid() {
        return hold.isValid();
    }

    @Override
    public String toString() {
        return "LockContext[" + LockNames.printable(name()) + "]";
    }
}
