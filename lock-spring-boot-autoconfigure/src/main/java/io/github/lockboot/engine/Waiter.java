package io.github.lockboot.engine;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.lockboot.LockListener;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.engine.Hold.HeldLease;
import io.github.lockboot.engine.LeaseTime.Moment;
import io.github.lockboot.engine.LockRequest.Transfer;
import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;

/**
 * A caller that wants a lock: a thread that parks, or a future. The name decides its wait once. Only a hold that the
 * waiter has not claimed yet can be taken back, and then it waits again.
 *
 * <pre>
 *              the name offers                      the waiter claims
 *   WAITING --------------------> Hold, not claimed -----------------> Hold, held
 *      |  ^                             |
 *      |  +-----------------------------+
 *      |      taken back: too late
 *      |
 *      +--> Refused   another has the lock, and the caller waits no longer, or too many wait before it
 *      +--> Failure   the store could not be asked, or granted the lock too late
 * </pre>
 *
 * <p>At its deadline the waiter asks the name for a decision, and again every command timeout, because whatever was to
 * decide it or to wake it may have been lost with something that was thrown.
 */
abstract class Waiter {

    /** The state of a wait: read it once, then act on what was read. */
    sealed interface Outcome permits Plain, Refused, Failure, Hold {}

    enum Plain implements Outcome {
        WAITING
    }

    /**
     * Another has the lock.
     *
     * @param waiting how many callers waited before it, if it was refused for their number; else 0
     * @param holderId null if it is not known
     * @param left what is left of the lease of that holder; null if it is not known
     */
    record Refused(
            int waiting,
            @Nullable String holderId,
            @Nullable Duration left) implements Outcome {

        static final Refused HELD = new Refused(0, null, null);

        private String reason(LockRequest request) {
            String group = request.group() == null ? "" : " of group '" + LockNames.printable(request.group()) + "'";
            return waiting == 0
                    ? "another caller held it"
                    : "too many callers of this instance wait for it already: " + waiting + ", and maxWaiting" + group
                            + " is " + request.maxWaiting() + "; come back later, or raise it";
        }
    }

    /**
     * The wait ended without the lock because the store could not be asked, or granted the lock too late.
     *
     * @param notNow whether the store refuses commands for now, or granted the lock too late: a caller that waits asks
     *     again
     */
    record Failure(String reason, @Nullable Throwable cause, boolean notNow) implements Outcome {}

    /** How long the caller still waits. */
    private enum Caller {
        /** Until its deadline. */
        PATIENT,
        /** At most for the next answer: it tries once, or was cancelled. */
        LAST_CALL,
        /** Its time is over: at most for the first answer. */
        OVERDUE,
        /** It does not wait, and cannot use the lock. */
        GONE
    }

    /** What decides the wait: the name that the waiter has entered. */
    interface Decider {

        /** {@return false if the waiter has been decided already} Otherwise it is refused. */
        boolean leave(Waiter waiter);

        /** The time to wait has passed: decides the waiter, now or with the next answer of the store. */
        void leaveAtDeadline(Waiter waiter);

        /** Takes back an offered hold that came too late. Its waiter is the first in the line again. */
        void settleNow();

        /** The caller is gone: the waiter leaves, or its hold is released. */
        void withdraw(Waiter waiter);
    }

    final EngineContext context;
    final long start;
    private final LockRequest request;
    private final @Nullable UseNotifier use;
    private final @Nullable Thread thread;
    private volatile @Nullable Decider decider;
    private volatile Outcome outcome = Plain.WAITING;
    private volatile Caller caller;
    private volatile boolean trial;
    private boolean mayWait;

    /** Through which any thread may release the hold, as long as it can reach one of them. */
    private volatile List<WeakReference<HeldLease>> leases = List.of();

    /**
     * @param use notifies listeners of the wait and the hold; null if there are none
     * @param thread that will own the hold; null if the hold will belong to no thread
     */
    Waiter(EngineContext context, LockRequest request, @Nullable UseNotifier use, @Nullable Thread thread) {
        this.context = context;
        this.start = context.nanoTime();
        this.request = request;
        this.use = use;
        this.thread = thread;
        this.caller = request.triesOnce() ? Caller.LAST_CALL : Caller.PATIENT;
    }

    final LockRequest request() {
        return request;
    }

    /** What it takes over; null if it acquires the lock. */
    @Nullable
    Transfer transfer() {
        return null;
    }

    /** Notifies listeners of the wait or the hold, if there are any. */
    final void report(Consumer<UseNotifier> event) {
        if (use != null) {
            event.accept(use);
        }
    }

    /** As {@link UseNotifier#enter}. */
    final @Nullable Runnable enter() {
        return use == null ? null : use.enter();
    }

    final @Nullable Thread thread() {
        return thread;
    }

    /** Called when it enters. */
    final void joins(Decider entered) {
        decider = entered;
    }

    final Decider decider() {
        return Objects.requireNonNull(decider);
    }

    /** How long after the start the name has to decide it. A waiter that tries once has the time of one command. */
    final long timeToDecide() {
        return request.triesOnce() ? context.commandTimeout() : request.waitNanos();
    }

    /** Whether the next answer decides it: it tries once, its time has passed, or it was cancelled. */
    final boolean isLastCall() {
        return caller != Caller.PATIENT;
    }

    final void setLastCall() {
        if (caller == Caller.PATIENT) {
            caller = Caller.LAST_CALL;
        }
    }

    final void setOverdue() {
        if (caller != Caller.GONE) {
            caller = Caller.OVERDUE;
        }
    }

    final boolean isOverdue() {
        return caller == Caller.OVERDUE;
    }

    /** Whether two command timeouts have passed in which it should have had an answer. */
    final boolean isLongOverdue(Moment now) {
        return now.nanos() - start - 2 * context.commandTimeout() >= Math.max(0, request.waitNanos());
    }

    /**
     * Admits the waiter behind so many others, or does not. Once admitted, it may wait, however many there are. Called
     * with the mutex of the name held.
     *
     * @return whether it may wait
     */
    final boolean admitBehind(int waiting) {
        mayWait |= request.triesOnce() || waiting < request.maxWaiting();
        return mayWait;
    }

    /** Its failure is not reported as an outage, because its caller reports it. */
    final void setTrial() {
        trial = true;
    }

    /** Whether its caller is there to use the lock. */
    final boolean canUseLock() {
        return caller != Caller.GONE
                && (thread != null && thread.isAlive()
                        || thread == null && leases.isEmpty()
                        || leases().anyMatch(HeldLease::isOpen));
    }

    /** {@return why the hold is lost, given why its lease has ended} */
    abstract String whyLost(String whyEnded);

    /** Any thread may close a lease of the hold, so while there is one, the hold does not end with its own thread. */
    final synchronized <L extends HeldLease> L lend(L lease) {
        leases = Stream.concat(leases(), Stream.of(lease))
                .map(WeakReference::new)
                .toList();
        return lease;
    }

    /** The leases that callers can still reach. */
    final Stream<HeldLease> leases() {
        return leases.stream().map(WeakReference::get).filter(Objects::nonNull);
    }

    // --- the decision -----------------------------------------------------------------------------------------

    final boolean isWaiting() {
        return outcome == Plain.WAITING;
    }

    final Outcome outcome() {
        return outcome;
    }

    /** Called with the mutex of the name held. */
    final void decide(Outcome decided) {
        outcome = decided;
    }

    /** Makes it look at its outcome. May be called more than once, on any thread. Does not block. */
    abstract void wake();

    /**
     * Notifies listeners and the log of the decision.
     *
     * @return the hold, which the waiter has claimed; null if another has the lock
     * @throws LockUnavailableException if the store could not be asked
     */
    final @Nullable Hold conclude() {
        Outcome decided = outcome;
        if (decided instanceof Hold granted) {
            report(use -> use.acquired(granted));
            return granted;
        }
        if (request.attempt() && asksAgain(decided)) {
            return null;
        }
        if (decided instanceof Failure failure) {
            report(use -> use.ended(LockListener::unavailable));
            context.log().unavailable(request, failure.reason);
            if (!trial) {
                context.failed(failure.reason, failure.cause);
            }
            throw new LockUnavailableException(request.name(), failure.reason, failure.cause);
        }
        report(use -> use.ended(LockListener::notAcquired));
        context.log().notAcquired(request, refused().reason(request));
        return null;
    }

    private Refused refused() {
        return outcome instanceof Refused known ? known : Refused.HELD;
    }

    /** {@return the exception for a caller that does not get the lock} */
    final LockNotAcquiredException refusal() {
        Duration waited = Duration.ofNanos(context.nanoTime() - start);
        Refused refused = refused();
        return new LockNotAcquiredException(
                request.name(), waited, refused.reason(request), refused.holderId, refused.left);
    }

    /** Whether a caller that waits asks again. */
    private static boolean asksAgain(Outcome decided) {
        return decided instanceof Refused || decided instanceof Failure failure && failure.notNow;
    }

    /**
     * Something was thrown, so the caller has no lock, whatever was decided. The timer's thread does the rest: this one
     * may have hardly any stack left.
     */
    final void withdraw() {
        caller = Caller.GONE;
        context.schedule(0, () -> {
            Decider entered = decider;
            if (entered != null) {
                entered.withdraw(this);
            }
            report(use -> use.ended(LockListener::unavailable));
        });
    }

    /**
     * The callers of a registry that wait for one name in one kind, in order. Guarded by the mutex of the name.
     *
     * <p>A caller leaves the line after it is decided, not before. So it is found again, whatever is thrown in between.
     */
    static final class Line {

        private final Deque<Waiter> waiters = new ArrayDeque<>(2);

        /** Called with each waiter that is decided. */
        private final Consumer<Waiter> decided;

        /** Whether there may be a waiter that waits at most for the next answer. */
        private boolean lastCalls;

        /** Whether a waiter that allows only so many before it has come since the last check. */
        private boolean mustCheckMaxWaiting;

        Line(Consumer<Waiter> decided) {
            this.decided = decided;
        }

        boolean isEmpty() {
            return waiters.isEmpty();
        }

        int size() {
            return waiters.size();
        }

        void add(Waiter waiter) {
            waiters.add(waiter);
            mustCheckMaxWaiting |= waiter.request().maxWaiting() != LockRequest.ANY_NUMBER;
            lastCalls |= waiter.isLastCall();
        }

        /** The time of this waiter has passed. */
        void overdue(Waiter waiter) {
            waiter.setOverdue();
            lastCalls = true;
        }

        boolean hasLastCalls() {
            return lastCalls;
        }

        @Nullable
        Waiter first() {
            return waiters.peek();
        }

        /** Refuses waiters at the front whose callers are gone. {@return the first one that is left, if any} */
        @Nullable
        Waiter dropGone() {
            Waiter first = first();
            while (first != null && !first.canUseLock()) {
                decide(first, Refused.HELD);
                first = first();
            }
            return first;
        }

        /** Decides a waiter, which leaves the line. */
        void decide(Waiter waiter, Waiter.Outcome outcome) {
            tell(waiter, outcome);
            waiters.remove(waiter);
        }

        private boolean tell(Waiter waiter, Waiter.Outcome outcome) {
            waiter.decide(outcome);
            decided.accept(waiter);
            return true;
        }

        /** {@return whether any has been decided} */
        boolean decideIf(Predicate<Waiter> which, Waiter.Outcome outcome) {
            return waiters.removeIf(waiter -> which.test(waiter) && tell(waiter, outcome));
        }

        /** Decides waiters that do not wait any longer, or whose callers are gone. */
        void decideLastCalls(Waiter.Outcome outcome) {
            decideIf(waiter -> waiter.isLastCall() || !waiter.canUseLock(), outcome);
        }

        /**
         * Decides waiters that do not wait any longer.
         *
         * @param awaitsAnswer which of them an answer under way will decide
         * @return whether any has been decided
         */
        boolean giveUp(Predicate<Waiter> awaitsAnswer, Waiter.Outcome outcome) {
            boolean any = decideIf(waiter -> waiter.isLastCall() && !awaitsAnswer.test(waiter), outcome);
            lastCalls = waiters.stream().anyMatch(Waiter::isLastCall);
            return any;
        }

        /**
         * Refuses waiters that have as many before them as they allow.
         *
         * @param held tells who has the lock
         * @return whether any has been refused
         */
        boolean refuseBeyondMaxWaiting(Supplier<Refused> held) {
            if (!mustCheckMaxWaiting) {
                return false;
            }
            mustCheckMaxWaiting = false;
            int[] before = {0};
            return waiters.removeIf(waiter -> {
                if (!waiter.admitBehind(before[0])) {
                    Refused taken = held.get();
                    return tell(waiter, new Refused(before[0], taken.holderId, taken.left));
                }
                before[0] += waiter.request().triesOnce() || !waiter.canUseLock() ? 0 : 1;
                return false;
            });
        }

        /**
         * Puts a waiter whose hold was taken back to the front again.
         *
         * @param why the outcome if it does not wait any longer
         */
        void putBack(Waiter waiter, Waiter.Failure why) {
            if (waiter.isLastCall() || !waiter.canUseLock()) {
                tell(waiter, why);
            } else {
                waiters.addFirst(waiter);
                waiter.decide(Waiter.Plain.WAITING);
            }
        }

        /** Something was thrown: a waiter that was decided in the middle of it leaves, and looks at its outcome. */
        void heal() {
            waiters.removeIf(waiter -> !waiter.isWaiting() && tell(waiter, waiter.outcome()));
        }
    }
}
