package io.github.lockboot;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks the parameter of a {@link DistributedLock} method that receives the fencing token of the lock, whatever the
 * caller passes. Its type is {@code long} or {@code Long}.
 *
 * <pre>{@code
 * @DistributedLock(name = "order", key = "#id")
 * public void write(String id, @FencingToken long token) { ... }    // called as write(id, 0)
 * }</pre>
 *
 * <p>Not supported with several annotations or {@code perElement}. With a {@code condition} the type must be
 * {@code Long}; it is null when the method runs without the lock.
 */
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface FencingToken {}
