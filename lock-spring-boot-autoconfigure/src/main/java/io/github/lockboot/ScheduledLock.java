package io.github.lockboot;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.Duration;
import java.time.Instant;

import io.github.lockboot.DistributedLock.IfNotAcquired;
import io.github.lockboot.DistributedLock.Release;
import org.springframework.core.annotation.AliasFor;

/**
 * Runs a scheduled method in one instance at a time, and once for each time that it is due, although the clocks of the
 * instances differ.
 *
 * <pre>{@code
 * @Scheduled(cron = "0 0 3 * * *")
 * @ScheduledLock(name = "nightly", atLeastFor = "1m", ttl = "1m")
 * public void nightly() { ... }
 * }</pre>
 *
 * <p>Use {@code cron}: {@code fixedRate} and {@code fixedDelay} count from the start of each instance, so instances
 * share no ticks, and each runs the method in its own period.
 *
 * <p>It is a {@link DistributedLock} that does not wait: while another instance runs the method, or ran it less than
 * {@link #atLeastFor()} ago, the call is skipped. The lease is renewed while the method runs. The lock is that of
 * {@code registry.get(name)}. The rules of {@link DistributedLock} for methods and results apply.
 *
 * <p>If Redis is unavailable, the call is skipped as well, and logged with the cause: another instance might be running
 * the method. Unless it returns a {@link java.util.concurrent.CompletableFuture}, there is no
 * {@link LockUnavailableException}.
 *
 * <p>Each call is recorded as a metric and a log line. The endpoint {@code locks} shows the last one. Beans of type
 * {@link Listener} are notified.
 */
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@DistributedLock(waitTime = "0", ifNotAcquired = IfNotAcquired.SKIP, release = Release.AWAIT)
public @interface ScheduledLock {

    /**
     * {@return the name of the lock and of the job, with {@code ${...}} and {@code #{...}} resolved once, at start} It
     * is a tag of metrics and is in logs.
     */
    @AliasFor(annotation = DistributedLock.class, attribute = "name")
    String name();

    /**
     * {@return the minimum time that the lock stays held, counted from the start of the method, such as {@code "30s"}}
     * Choose a time that is longer than the difference between the clocks of the instances, and shorter than the period
     * minus that difference. Empty, the default, releases the lock when the method has ended, so that an instance whose
     * clock is late runs the method again. It is {@link DistributedLock#keepFor()}.
     */
    @AliasFor(annotation = DistributedLock.class, attribute = "keepFor")
    String atLeastFor() default "";

    /**
     * {@return the lease, after which another instance may run the method if this process was killed; empty, the
     * default, for {@code lock.ttl}} Choose a time that is longer than the difference between the clocks, so that the
     * method does not run twice after a kill.
     */
    @AliasFor(annotation = DistributedLock.class, attribute = "ttl")
    String ttl() default "";

    /** The outcome of a call. */
    enum Outcome {
        /** The method returned, or its result completed. */
        RAN,
        /** The method threw, or its result failed or was cancelled. */
        FAILED,
        /** The method did not run: another call runs it, or ran it less than {@code atLeastFor} ago. */
        SKIPPED,
        /** The lock was lost while the method ran, so another instance may have run it at the same time. */
        LOST,
        /** The method did not run: Redis is not available, the application closes, or the call was interrupted. */
        UNAVAILABLE
    }

    /**
     * A call of a job, and its outcome.
     *
     * @param job the name of its lock
     * @param started when it was called
     * @param took until the method had ended and the lock was released or kept, or until the call was skipped
     * @param thread that called it
     * @param outcome how the call ended
     * @param overran whether it still ran when it was due again by its {@code @Scheduled}; a fixed delay is never
     *     overrun
     */
    record Run(String job, Instant started, Duration took, String thread, Outcome outcome, boolean overran) {}

    /** Is notified after each call of a job. Its exceptions are logged. */
    @FunctionalInterface
    interface Listener {

        /**
         * A call of a job has ended.
         *
         * @param run the call; it is reported on the thread on which it ended
         */
        void jobEnded(Run run);
    }
}
