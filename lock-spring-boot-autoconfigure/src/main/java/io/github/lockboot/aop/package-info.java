/**
 * From the annotation to the lock. The advisor finds {@link io.github.lockboot.DistributedLock} methods; the interceptor has the
 * annotations of each parsed once, into a {@code LockedCall} with its {@code LockDefinition}s, which takes the locks, runs the method
 * and releases them.
 */
@NullMarked
package io.github.lockboot.aop;

import org.jspecify.annotations.NullMarked;
