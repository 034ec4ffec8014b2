/** The lock on Redis as users see it: registry and builder, the lock, the self-check, the inspector and the guard. */
@NullMarked
package io.github.lockboot.redis;

import org.jspecify.annotations.NullMarked;
