package io.github.lockboot;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks the parameter of a {@link DistributedLock} method that receives the fencing token of the lock, whatever the caller
 * passes for it. Its type is {@code long} or {@code Long}.
 *
 * <pre>{@code
 * @DistributedLock(key = "#id")
 * public void write(String id, @FencingToken long token) { ... }    // called as write(id, 0)
 * }</pre>
 *
 * <p>Only where there is exactly one lock to speak of: not with several annotations or with {@code perElement}. With a
 * {@code condition} it must be a {@code Long}, which is null when the method runs without the lock.
 */
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface FencingToken {}
