package io.github.lockboot.aop;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.HeldLocks;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.ScheduledLock;
import io.github.lockboot.ScheduledLock.Outcome;
import io.github.lockboot.aop.LockedMethod.End;
import io.github.lockboot.internal.Failures;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.Logs;
import io.github.lockboot.internal.Timer;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.EmbeddedValueResolver;
import org.springframework.util.function.SingletonSupplier;

/**
 * The locks of a method with {@link ScheduledLock}. Reports the outcome of each call to the log and to the listeners.
 * Without its locks the method is skipped, whether another has them or Redis does not answer: a scheduler can do
 * nothing with an exception but log it.
 */
final class ScheduledCall extends MethodLocks {

    private static final Log log = Logs.of(ScheduledLock.class);

    private final String job;
    private final Supplier<@Nullable Object> skipped;
    private final Supplier<Schedule> schedule;
    private final Supplier<List<ScheduledLock.Listener>> listeners;

    private ScheduledCall(
            LockedMethod method,
            List<DistributedLock> annotations,
            ConfigurableBeanFactory beanFactory,
            Supplier<LockTemplate> template) {
        super(method, annotations, beanFactory, template);
        this.job = definitions().stream()
                .filter(LockDefinition::isOfJob)
                .map(LockDefinition::name)
                .findFirst()
                .orElseThrow();
        this.skipped = Contention.skipped(method);
        this.schedule =
                SingletonSupplier.of(() -> Schedule.of(method.method(), new EmbeddedValueResolver(beanFactory)));
        this.listeners = SingletonSupplier.of(() -> beanFactory
                .getBeanProvider(ScheduledLock.Listener.class)
                .orderedStream()
                .toList());
    }

    /** Its type is that of the base, so that nothing loads this class without a job. */
    static MethodLocks of(
            LockedMethod method,
            List<DistributedLock> annotations,
            ConfigurableBeanFactory beanFactory,
            Supplier<LockTemplate> template) {
        return new ScheduledCall(method, annotations, beanFactory, template);
    }

    @Override
    @Nullable
    Object invoke(MethodInvocation invocation) throws Throwable {
        if (end == End.PUBLISHER) {
            return new ReactiveCall(this, invocation).publisher(Tick::new);
        }
        Tick tick = new Tick();
        try {
            Object result = invoke(invocation, tick::acquired);
            if (end == End.STAGE && result instanceof CompletionStage<?> stage) {
                stage.whenComplete((value, failure) -> tick.ended(failure));
            } else {
                tick.ended(null);
            }
            return result;
        } catch (Throwable failure) {
            tick.ended(failure);
            if (tick.didNotGetLocks(failure)) {
                return tick.skipped();
            }
            throw failure;
        }
    }

    /** A call, from its beginning to its end. */
    final class Tick {

        private final Instant started = InstantSource.system().instant();
        private final long since = Timer.systemNanoTime();
        private final String thread = Thread.currentThread().getName();
        private volatile @Nullable HeldLocks held;

        /** The locks are held or refused. */
        void acquired(HeldLocks held) {
            this.held = held;
        }

        /** Whether the call failed because Redis, or a registry that is closing, did not give it its locks. */
        boolean didNotGetLocks(@Nullable Throwable failure) {
            return held == null && failure != null && Futures.unwrap(failure) instanceof LockUnavailableException;
        }

        /** {@return what a call that was skipped returns} */
        @Nullable
        Object skipped() {
            return skipped.get();
        }

        /** The failure is null if there was none. */
        void ended(@Nullable Throwable failure) {
            Failures.runAndLog("after job " + LockNames.printable(job), () -> report(failure));
        }

        private void report(@Nullable Throwable failure) {
            Duration took = Duration.ofNanos(Timer.systemNanoTime() - since);
            Outcome outcome = outcome(failure);
            boolean overran =
                    held != null && outcome != Outcome.SKIPPED && schedule.get().isDueWithin(started, took);
            String line = "Job '" + LockNames.printable(job) + "' "
                    + outcome.name().toLowerCase(Locale.ROOT) + ", took " + took.toMillis() + " ms";
            if (failure != null && didNotGetLocks(failure)) {
                log.warn(line + ", so it did not run: " + LockNames.printable(reasonOf(Futures.unwrap(failure))));
            } else if (overran) {
                log.warn(line + " and was due again before it ended");
            } else {
                log.debug(line);
            }
            ScheduledLock.Run run = new ScheduledLock.Run(job, started, took, thread, outcome, overran);
            for (ScheduledLock.Listener listener : listeners.get()) {
                Failures.runAndLog("of a listener to jobs", () -> listener.jobEnded(run));
            }
        }

        private static String reasonOf(Throwable unavailable) {
            Throwable cause = unavailable.getCause();
            return Failures.reasonOf(cause != null ? cause : unavailable);
        }

        private Outcome outcome(@Nullable Throwable failure) {
            HeldLocks held = this.held;
            if (held == null) {
                return Outcome.UNAVAILABLE;
            } else if (held.refusal() != null) {
                return Outcome.SKIPPED;
            } else if (failure == null) {
                return Outcome.RAN;
            }
            Throwable cause = Futures.unwrap(failure);
            return isLoss(cause) || List.of(cause.getSuppressed()).stream().anyMatch(this::isLoss)
                    ? Outcome.LOST
                    : Outcome.FAILED;
        }

        private boolean isLoss(Throwable failure) {
            return failure instanceof LockLostException lost
                    && lost.getLockName().equals(job);
        }
    }
}
