/** Locks in the memory of one process, for tests of code that uses locks. */
@NullMarked
package io.github.lockboot.memory;

import org.jspecify.annotations.NullMarked;
