/** Locks that several callers hold at a time: readers beside each other, and permits. */
@NullMarked
package io.github.lockboot.sample.kinds;

import org.jspecify.annotations.NullMarked;
