/** Actuator endpoints and a health indicator for locks. */
@NullMarked
package io.github.lockboot.autoconfigure.actuate;

import org.jspecify.annotations.NullMarked;
