/**
 * From the annotation to the lock: an advisor finds {@link io.github.lockboot.DistributedLock} methods, their annotations are
 * parsed once for each, and by what a method returns a strategy is chosen that takes its locks, runs it and gives them back.
 */
@NullMarked
package io.github.lockboot.aop;

import org.jspecify.annotations.NullMarked;
