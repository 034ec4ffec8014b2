/** The lock on Redis: from the {@link java.util.concurrent.locks.Lock} contract down to the scripts. */
@NullMarked
package io.github.lockboot.redis;

import org.jspecify.annotations.NullMarked;
