/** A token from a slow upstream, fetched once whoever asks. */
@NullMarked
package io.github.lockboot.sample.token;

import org.jspecify.annotations.NullMarked;
