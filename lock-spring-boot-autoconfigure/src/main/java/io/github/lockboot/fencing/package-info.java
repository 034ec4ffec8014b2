/** Guards for a database, which refuse what a holder writes after it has lost its lock. */
@NullMarked
package io.github.lockboot.fencing;

import org.jspecify.annotations.NullMarked;
