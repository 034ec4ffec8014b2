/** Locks on Redis as users see them: registry and builder, the self-check, the inspector and the fence. */
@NullMarked
package io.github.lockboot.redis;

import org.jspecify.annotations.NullMarked;
