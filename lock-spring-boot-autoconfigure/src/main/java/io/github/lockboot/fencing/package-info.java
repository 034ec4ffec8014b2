/** Rejects writes to a database by a holder that has lost its lock. */
@NullMarked
package io.github.lockboot.fencing;

import org.jspecify.annotations.NullMarked;
