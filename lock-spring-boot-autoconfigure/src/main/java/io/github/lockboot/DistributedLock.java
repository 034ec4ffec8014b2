package io.github.lockboot;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a method of a Spring bean under a lock, so that at most one caller in the whole fleet runs it per key.
 *
 * <pre>{@code
 * @DistributedLock(key = "#openid+#redPacketId")
 * public Grab grab(String redPacketId, String openid) { ... }
 * }</pre>
 *
 * <p>The key is evaluated once, before the method. The caller waits up to {@code lock.wait-time} for the lock and gets a
 * {@link LockNotAcquiredException} if another held it all the time, a {@link LockUnavailableException} if Redis could not
 * be asked; the method never runs without the lock. What the method returns or throws comes out unchanged, except that
 * {@link LockLostException} replaces its result when the lock was lost while it ran.
 *
 * <p><b>Where.</b> On a method, of the class or of an interface or superclass it comes from; on a class or interface, for
 * all its public methods but those of {@link Object}, unless a method has an annotation of its own; on an annotation, which
 * then stands for it, its attributes passed on by {@code @AliasFor}. A call from within the same bean does not pass the proxy and is
 * not locked.
 *
 * <p><b>Several</b> on one method are all taken, in the order of the locks' names, so that two methods never wait for each other, and
 * released in reverse. Each counts its wait from the beginning of the call. If one is lost while another is waited for, all are
 * released and taken again; without time for that the caller gets a {@link LockLostException} and the method does not run.
 *
 * <p><b>Transactions.</b> The lock is taken before a transaction of the same method begins and released after it has ended. If a
 * transaction is active already, the lock stays until that has ended, and a lock that was lost by then rolls it back; the first
 * time, a warning says that the transaction began too early.
 *
 * <p><b>Results that come later.</b> If the method returns a {@code CompletionStage} or {@code CompletableFuture}, a
 * {@code Mono}, {@code Flux} or another reactive type, no thread waits for the lock, and it is held until the result
 * completes, fails or is cancelled. The lock then belongs to that call, not to a thread, and is not reentrant; the method's
 * body runs on a thread of the registry, without the caller's thread-bound state such as its transaction. A reactive method
 * locks once per subscription. With {@code @Async} the lock covers the work, not the submit: lock and body are on the
 * executor's thread. What counts is the type that the bean's class gives the method, type parameters resolved.
 *
 * <p>Every other method is locked until it returns. A method whose result is work that runs later is refused at start: a {@code Future},
 * {@code Supplier}, {@code Callable}, {@code Stream} or {@code Iterator}, or an asynchronous result of Spring MVC. If such work,
 * a stage or a publisher comes out of a method that declares {@code Object} or an interface, the caller gets an
 * {@link IllegalStateException} that says what to declare; the method has run then. {@code Supplier}, {@code Callable} and
 * {@code Iterator} are recognized only where they are declared.
 *
 * <p>Inside the method {@link LockContext} gives access to the lock, and a parameter with {@link FencingToken} gets its token.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Repeatable(DistributedLocks.class)
public @interface DistributedLock {

    /**
     * {@return one or several SpEL expressions over the method's parameters: {@code #openid}, {@code #p0}, {@code #a0},
     * {@code #root.method}, {@code #root.target}, {@code #root.args}, {@code @bean}, with {@code ${...}} placeholders
     * resolved first} Each must give text, a number, an enum constant or a UUID, and neither null nor the empty string. Text and
     * numbers are those of the JDK ({@code java.lang} and {@code java.math} for numbers); other types that are a {@code Number} or
     * {@code CharSequence} are refused. A {@code BigDecimal} is the same key whatever its scale, -0.0 is 0.0, and what is no number
     * (NaN, an infinity) is refused.
     *
     * <p>{@link LockRegistry#nameOf} makes the lock's name of {@link #name()} and the results. <b>One result without a {@code name} is
     * the whole name as it stands</b>: where users choose that text, it can be the name of any lock of the application, so give a
     * {@code name}. In a concatenation no operand may be null, and an expression that would add two numbers is refused: write
     * {@code {"#a", "#b"}} instead of {@code "#a+#b"}. For the same reason {@code +} may not stand inside the arguments of a call.
     *
     * <p>Empty only when {@link #name()} is given: then that is the whole name.
     */
    String[] key() default {};

    /**
     * Takes one lock for each element of the collection or array that the only key expression gives, all or none of them:
     * {@code @DistributedLock(name = "stock", key = "#skus", perElement = true)}. An element twice is locked once. The wait
     * time is for all together. A collection without elements is refused: say {@code condition = "!#skus.isEmpty()"} if it
     * needs no lock. False by default.
     *
     * @return whether it does
     */
    boolean perElement() default false;

    /**
     * {@return a literal namespace put before the key, with {@code ${...}}, such as {@code "packet"}; empty, the default, for
     * none} It should not be another's name followed by a colon and more.
     */
    String name() default "";

    /**
     * {@return how long to wait for the lock, such as {@code "500ms"}, {@code "10s"}, {@code "PT5S"} or {@code "${...}"};
     * {@code "0"} tries once; empty, the default, for {@code lock.wait-time}}
     */
    String waitTime() default "";

    /** {@return the lease, in the same form, at least one second; empty, the default, for {@code lock.ttl}} */
    String ttl() default "";

    /** {@return whether the lease is renewed while the method runs; {@code lock.renew} decides by default} */
    Renewal renew() default Renewal.DEFAULT;

    /**
     * {@return how long the method may keep the lease renewed, such as {@code "5m"}: stuck for longer, it loses the lock when
     * its lease ends} Empty, the default, for {@code lock.max-hold}.
     */
    String maxHold() default "";

    /**
     * {@return a SpEL expression with the names of {@link #key()} that gives true or false, such as {@code "#amount > 100"}}
     * When it gives false the method runs without this lock. Empty, the default, for always locking.
     */
    String condition() default "";

    /**
     * {@return how long the lock stays at least, counted from when the method began, also after it has returned; it is kept longer
     * while the method runs} Empty, the default, releases it when the method has ended.
     *
     * <pre>{@code
     * @DistributedLock(key = "#orderId", waitTime = "0", keepFor = "5s", keepOn = KeepOn.SUCCESS)
     * public void submit(String orderId) { ... }    // a second submit within 5 s is refused
     *
     * @DistributedLock(name = "nightly", waitTime = "0", keepFor = "1m", ifNotAcquired = IfNotAcquired.SKIP)
     * @Scheduled(cron = "0 0 3 * * *")
     * public void nightly() { ... }                 // once in the fleet, though clocks differ
     * }</pre>
     *
     * <p>The lease is renewed meanwhile, so {@link Renewal#OFF} does not go with it. When this process ends, the lock stays
     * no longer than its {@link #ttl()}: choose a ttl of that length where restarts matter. A lock that is kept belongs to
     * the call, not to the thread, and is not reentrant.
     */
    String keepFor() default "";

    /** {@return after which outcome {@link #keepFor()} counts; whatever it was, by default} */
    KeepOn keepOn() default KeepOn.ALWAYS;

    /**
     * {@return what the caller gets if another held the lock until the wait ended: {@link LockNotAcquiredException} by
     * default} This and {@link #fallback()} answer contention alone. If Redis cannot be asked it is always a
     * {@link LockUnavailableException}. An interrupt before or during the wait always gives a {@link LockNotAcquiredException} with the
     * {@link InterruptedException} as its cause, and the thread's flag is set again.
     */
    IfNotAcquired ifNotAcquired() default IfNotAcquired.THROW;

    /**
     * {@return the name of a method of the same class to be called instead if another held the lock until the wait ended,
     * with the same parameters, optionally followed by a {@link LockNotAcquiredException}: {@code fallback = "tooBusy"}} It
     * runs without the lock and not through the proxy. Empty, the default, for {@link #ifNotAcquired()}.
     */
    String fallback() default "";

    /**
     * {@return the name of the {@link LockRegistry} bean whose lock it is, with {@code ${...}}, for an application with
     * several; empty, the default, for the one of the {@link LockTemplate} bean}
     */
    String registry() default "";

    /** Whether a lease is renewed. */
    enum Renewal {
        /** As {@code lock.renew} says. */
        DEFAULT,
        /** For as long as the method runs. */
        ON,
        /** Not: the lease ends after its ttl. */
        OFF
    }

    /** After which outcome a lock is kept. */
    enum KeepOn {
        /** Whether the method returned or failed. */
        ALWAYS,
        /** Only if the method returned; after a failure the lock is free at once, so that the caller can try again. */
        SUCCESS
    }

    /** What the caller gets when another held the lock. */
    enum IfNotAcquired {
        /** {@link LockNotAcquiredException}. */
        THROW,
        /**
         * Null, an empty {@code Optional}, a completed stage of these, or an empty publisher; nothing for {@code void}.
         * Methods that return a primitive are refused at start.
         */
        SKIP
    }
}
