package io.github.lockboot.sample;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;

/**
 * A bean that has locks injected. With {@code lock.enabled=false} there are none, and what is left of the sample, the red
 * packets, shows what happens without.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ConditionalOnProperty(name = "lock.enabled", matchIfMissing = true)
public @interface NeedsLocks {}
