/** A holder that sleeps through the end of its lock, and is refused when it writes late. */
@NullMarked
package io.github.lockboot.sample.fencing;

import org.jspecify.annotations.NullMarked;
