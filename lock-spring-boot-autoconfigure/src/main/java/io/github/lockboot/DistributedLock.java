package io.github.lockboot;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a method of a Spring bean under a lock, so that at most one caller of all instances runs it per key. With
 * {@link #permits()} at most so many run it, and with {@link Mode#SHARED} any number, but none alongside an exclusive
 * one.
 *
 * <pre>{@code
 * @DistributedLock(name = "order", key = "#orderId")
 * public Receipt pay(String orderId) { ... }
 * }</pre>
 *
 * <p>The key is evaluated once, before the method. The caller waits for the lock up to {@code lock.wait-time}. It gets
 * a {@link LockNotAcquiredException} if another caller held the lock for the whole time, and a
 * {@link LockUnavailableException} if Redis is not available. The method never starts without the lock. The caller gets
 * what the method returns or throws; if the lock was lost while the method ran, a {@link LockLostException} replaces
 * its result.
 *
 * <p><b>Where.</b> On a method, also of an interface or superclass. On a class or interface, for all its public methods
 * that have no annotation of their own, except those of {@link Object}. On an annotation, as a meta-annotation, with
 * attributes set by {@code @AliasFor}. A call from within the same bean does not go through the proxy and is not
 * locked.
 *
 * <p><b>Several</b> on one method are all acquired, in the order of the locks' names, so that two methods never wait
 * for each other, and released in reverse. Each wait time counts from the beginning of the call. If a lock is lost
 * during the wait for another, all are released and acquired again. Without time for that, the caller gets a
 * {@link LockLostException} and the method does not run. If two annotations of a call give the same lock with different
 * modes or permits, the caller gets an {@link IllegalArgumentException}.
 *
 * <p><b>Transactions.</b> The lock is acquired before a transaction of the same method begins, and released after it
 * has ended. If a transaction is active already, the lock is held until that has ended. If the thread knows before the
 * commit that the lock is lost, the transaction is rolled back. The first time that it was active already, a warning is
 * logged that the transaction began too early.
 *
 * <p><b>Results that come later.</b> If the method returns a {@code CompletionStage} or {@code CompletableFuture}, a
 * {@code Mono}, {@code Flux} or another reactive type, no thread waits for the lock, and it is held until the result
 * completes, fails or is cancelled. The lock then belongs to that call, not to a thread, and is not reentrant. The
 * method's body runs on a thread of the registry, without the caller's thread-bound state such as its transaction. A
 * reactive method locks once per subscription. With {@code @Async}, lock and body are on the executor's thread. The
 * result type is that of the bean's class, with type parameters resolved. A suspending function of Kotlin is locked
 * until it returns, fails or is cancelled, and its body runs where its coroutine does.
 *
 * <p>Every other method is locked until it returns. A method whose result is work that runs later is refused at start:
 * a {@code Future}, {@code Supplier}, {@code Callable}, {@code Stream} or {@code Iterator}, or an asynchronous result
 * of Spring MVC. If a method that declares {@code Object} or an interface returns such work, a stage or a publisher,
 * the caller gets an {@link IllegalStateException} after the method has run. {@code Supplier}, {@code Callable} and
 * {@code Iterator} are recognized only where they are declared.
 *
 * <p>Inside the method {@link LockContext} gives access to the lock, and a parameter with {@link FencingToken} gets its
 * token.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Repeatable(DistributedLock.Container.class)
public @interface DistributedLock {

    /**
     * {@return one or several SpEL expressions over the method's parameters: {@code #openid}, {@code #p0}, {@code #a0},
     * {@code #root.method}, {@code #root.target}, {@code #root.args}, {@code @bean}, with {@code ${...}} placeholders
     * resolved first} The names are those of the method with the annotation, not of an implementation. Each must give
     * text, a number, a date or time, an enum constant or a UUID, and neither null nor the empty string. Text and
     * numbers must be of types of the JDK ({@code java.lang} and {@code java.math} for numbers). A value of
     * {@code java.time} is its ISO text. A {@code BigDecimal} is the same key whatever its scale, and -0.0 the same as
     * 0.0. NaN and infinities are refused.
     *
     * <p>{@link LockRegistry#nameOf} makes the lock's name of {@link #name()} and the results. <b>Without a
     * {@code name}, one result is the whole name, unchanged, and the first of several takes the place of the
     * {@code name}</b>: if users choose that text, they can choose other locks of the application, so give a
     * {@code name}. In a concatenation no operand may be null, and an expression that would add two numbers is refused:
     * write {@code {"#a", "#b"}} instead of {@code "#a+#b"}. For the same reason {@code +} is not allowed inside the
     * arguments of a call.
     *
     * <p>May be empty if there is a {@link #name()}, which is then the whole name.
     */
    String[] key() default {};

    /**
     * Acquires one lock for each element of the collection or array that the only key expression gives, all or none of
     * them: {@code @DistributedLock(name = "stock", key = "#skus", perElement = true)}. A repeated element is locked
     * once. The wait time is for all together. A collection without elements is refused: add {@code condition =
     * "!#skus.isEmpty()"} if it needs no lock. False by default.
     *
     * @return whether each element has a lock of its own
     */
    boolean perElement() default false;

    /**
     * {@return a literal namespace put before the key, with {@code ${...}} and, evaluated once, {@code #{...}}, such as
     * {@code "order"}; empty, the default, for none} A parameter such as {@code #id} belongs in {@link #key()} and is
     * refused here. It should not begin with another namespace and a colon.
     */
    String name() default "";

    /**
     * {@return how long to wait for the lock, such as {@code "500ms"}, {@code "10s"}, {@code "PT5S"} or
     * {@code "${...}"}; {@code "0"} tries once; empty, the default, for {@code lock.wait-time}}
     */
    String waitTime() default "";

    /**
     * {@return how many callers of this instance may wait for the lock, such as {@code "20"} or {@code "${...}"}; at
     * least 1; empty, the default, for {@code lock.max-waiting}} If so many wait, a further caller does not wait: it
     * gets what {@link #ifNotAcquired()} or {@link #fallback()} say. See {@link LockOptions#withMaxWaiting}.
     *
     * <pre>{@code
     * @DistributedLock(name = "reindex", maxWaiting = "1", waitTime = "10m", ifNotAcquired = IfNotAcquired.SKIP)
     * public void reindex() { ... }    // one runs, one waits, all other calls return
     * }</pre>
     *
     * <p>{@code lock.locks.<group>.max-waiting} takes precedence.
     */
    String maxWaiting() default "";

    /** {@return the lease, in the same form, at least one second; empty, the default, for {@code lock.ttl}} */
    String ttl() default "";

    /**
     * {@return whether other calls may hold the lock at the same time; {@link Mode#EXCLUSIVE} by default, that is,
     * none}
     *
     * <pre>{@code
     * @DistributedLock(name = "prices", mode = Mode.SHARED)
     * public Report report() { ... }    // reports run alongside each other
     *
     * @DistributedLock(name = "prices")
     * public void load() { ... }        // alone; reports that come later wait for it
     * }</pre>
     *
     * <p>A thread that runs a shared method cannot call an exclusive one with the same lock: it would wait for itself,
     * and gets an {@link IllegalStateException}. See {@link NamedReadWriteLock}.
     */
    Mode mode() default Mode.EXCLUSIVE;

    /**
     * {@return how many calls may hold the lock at the same time, in all instances, such as {@code "5"} or
     * {@code "${...}"}; at least 1; empty, the default, for an exclusive lock} Not with {@link Mode#SHARED}, which
     * allows any number. {@code lock.locks.<group>.permits} takes precedence.
     */
    String permits() default "";

    /** {@return whether the lease is renewed while the method runs; {@code lock.renew} decides by default} */
    Renewal renew() default Renewal.DEFAULT;

    /**
     * {@return how long the lease is renewed at most, such as {@code "5m"}: a method that takes longer loses the lock
     * when its lease ends} Empty, the default, for {@code lock.max-hold}.
     */
    String maxHold() default "";

    /** {@return whether the release waits for the answer of Redis; {@code lock.release} decides by default} */
    Release release() default Release.DEFAULT;

    /**
     * {@return how long the lock stays with this JVM after the method, such as {@code "1s"}, so that the next call in
     * this JVM needs no command} See {@link LockOptions#withLinger}. Not with {@link Mode#SHARED}, permits or
     * {@link Renewal#OFF}. Empty, the default, for not at all. {@code lock.locks.<group>.linger} takes precedence.
     */
    String linger() default "";

    /**
     * {@return a SpEL expression with the names of {@link #key()} that gives true or false, such as {@code "#amount >
     * 100"}} When it gives false the method runs without this lock. Empty, the default, for always locking.
     */
    String condition() default "";

    /**
     * {@return the minimum time that the lock stays held, counted from the start of the method, even if it returns
     * earlier} Empty, the default, releases it when the method has ended.
     *
     * <pre>{@code
     * @DistributedLock(name = "order", key = "#id", waitTime = "0", keepFor = "5s", keepOn = KeepOn.SUCCESS)
     * public void submit(String id) { ... }    // a second submit within 5 s is refused
     * }</pre>
     *
     * <p>For a scheduled job there is {@link ScheduledLock}. Once the method has ended, Redis releases the lock when
     * this time is over, regardless of {@link #ttl()} and {@link #renew()}, even if this process has ended by then: see
     * {@link Lease#closeAfter}. If the process ends while the method runs, the lock ends with its ttl. A lock with
     * keepFor belongs to the call, not to the thread, and is not reentrant.
     */
    String keepFor() default "";

    /** {@return the outcomes after which {@link #keepFor()} applies; all by default} */
    KeepOn keepOn() default KeepOn.ALWAYS;

    /**
     * {@return what the caller gets if another caller held the lock until the wait ended:
     * {@link LockNotAcquiredException} by default} This and {@link #fallback()} are for contention only. If Redis is
     * not available, it is always a {@link LockUnavailableException}. An interrupt before or during the wait always
     * gives a {@link LockNotAcquiredException} with the {@link InterruptedException} as its cause, and the thread's
     * flag is set again.
     */
    IfNotAcquired ifNotAcquired() default IfNotAcquired.THROW;

    /**
     * {@return the name of a method of the same class to be called instead if another caller held the lock until the
     * wait ended, with the same parameters, optionally followed by a {@link LockNotAcquiredException}: {@code fallback
     * = "tooBusy"}} It runs without the lock and not through the proxy. Empty, the default, for
     * {@link #ifNotAcquired()}.
     */
    String fallback() default "";

    /**
     * {@return what a person reads if the lock was not acquired, such as {@code "This order is being submitted"} or
     * {@code "${...}"}; empty, the default, for none} It is {@link LockNotAcquiredException#getUserMessage()}, and in a
     * web application the detail of the answer. The name of the lock does not belong in it.
     */
    String message() default "";

    /**
     * {@return the name of the {@link LockRegistry} bean, with {@code ${...}}, for an application with several; empty,
     * the default, for the one of the {@link LockTemplate} bean}
     */
    String registry() default "";

    /** Who may hold a lock at the same time. */
    enum Mode {
        /** One holder or, with permits, at most so many. */
        EXCLUSIVE,
        /** Any number of shared holders, but none alongside others. */
        SHARED
    }

    /** Whether a lease is renewed. */
    enum Renewal {
        /** {@code lock.renew} decides. */
        DEFAULT,
        /** The lease is renewed while the method runs. */
        ON,
        /** The lease ends after its ttl. */
        OFF
    }

    /** Whether a release waits for the answer of Redis. */
    enum Release {
        /** {@code lock.release} decides. */
        DEFAULT,
        /** The caller continues once Redis has answered, so it knows if the lock was lost before. */
        AWAIT,
        /**
         * The release is sent and the caller continues, so that a hold waits for one answer of Redis instead of two. If
         * the answer says that the lock was lost, the listeners and the callbacks of {@code onLost} report it, and the
         * caller gets no exception. Another instance that tries once right after may still find the lock held.
         */
        SEND
    }

    /** The outcomes after which a lock is kept. */
    enum KeepOn {
        /** Any outcome. */
        ALWAYS,
        /** Only if the method returned; after a failure the lock is free at once, so that the caller can try again. */
        SUCCESS
    }

    /** The result of a call if another caller held the lock. */
    enum IfNotAcquired {
        /** {@link LockNotAcquiredException}. */
        THROW,
        /**
         * Null, an empty {@code Optional}, a completed stage of these, or an empty publisher; nothing for {@code void}.
         * Methods that return a primitive, or a Kotlin type that is not nullable, are refused at start.
         */
        SKIP
    }

    /** Container of several {@link DistributedLock} annotations. */
    @Target({ElementType.METHOD, ElementType.TYPE})
    @Retention(RetentionPolicy.RUNTIME)
    @Inherited
    @Documented
    @interface Container {

        /** {@return the annotations} */
        DistributedLock[] value();
    }
}
