package io.github.lockboot.sample;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;

/**
 * A bean that needs locks. With {@code lock.enabled=false} only the red packets are left, which show what happens
 * without locks.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ConditionalOnProperty(name = "lock.enabled", matchIfMissing = true)
public @interface NeedsLocks {}
