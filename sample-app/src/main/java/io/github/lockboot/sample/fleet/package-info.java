/** A job that is due in every instance and runs in one, and an instance that leads for as long as it lives. */
@NullMarked
package io.github.lockboot.sample.fleet;

import org.jspecify.annotations.NullMarked;
