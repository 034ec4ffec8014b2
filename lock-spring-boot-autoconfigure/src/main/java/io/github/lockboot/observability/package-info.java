/** Listeners that report locks: metrics, observations and the logging context. */
@NullMarked
package io.github.lockboot.observability;

import org.jspecify.annotations.NullMarked;
