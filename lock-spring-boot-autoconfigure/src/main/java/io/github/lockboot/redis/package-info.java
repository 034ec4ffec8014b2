/** Locks on Redis: the registry and its builder, the self-check, the inspector and the fence. */
@NullMarked
package io.github.lockboot.redis;

import org.jspecify.annotations.NullMarked;
