/** A token from a slow upstream, fetched once for all callers. */
@NullMarked
package io.github.lockboot.sample.token;

import org.jspecify.annotations.NullMarked;
