/** What the actuator shows of locks: an endpoint and a health indicator. */
@NullMarked
package io.github.lockboot.autoconfigure.actuate;

import org.jspecify.annotations.NullMarked;
