/** Locks on Redis as users see them: registry and builder, the self-check, the inspector and the guard. */
@NullMarked
package io.github.lockboot.redis;

import org.jspecify.annotations.NullMarked;
