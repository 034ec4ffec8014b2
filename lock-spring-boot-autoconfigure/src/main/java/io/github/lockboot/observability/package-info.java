/** What locks tell the outside: metrics, observations, application events, the logging context. All of it by listening. */
@NullMarked
package io.github.lockboot.observability;

import org.jspecify.annotations.NullMarked;
