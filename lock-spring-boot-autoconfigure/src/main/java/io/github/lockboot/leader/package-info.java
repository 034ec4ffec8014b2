/** One instance that leads for as long as it lives. */
@NullMarked
package io.github.lockboot.leader;

import org.jspecify.annotations.NullMarked;
