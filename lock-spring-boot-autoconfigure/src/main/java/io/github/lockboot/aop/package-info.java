/**
 * From the annotation to the lock. The advisor finds {@link io.github.lockboot.DistributedLock} methods. The
 * interceptor parses the annotations of each once, into a {@code MethodLocks} with its {@code LockDefinition}s. The
 * {@code MethodLocks} acquires the locks, runs the method and releases the locks.
 */
@NullMarked
package io.github.lockboot.aop;

import org.jspecify.annotations.NullMarked;
