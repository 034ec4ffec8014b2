/**
 * Distributed locks: what an application imports. Nothing here knows Redis, Spring Data or Spring Boot.
 *
 * <p>{@code LockRuntime}, {@code LockScope}, {@code LockSet} and {@code HeldLocks} are public between the packages of this library:
 * not for applications.
 */
@NullMarked
package io.github.lockboot;

import org.jspecify.annotations.NullMarked;
