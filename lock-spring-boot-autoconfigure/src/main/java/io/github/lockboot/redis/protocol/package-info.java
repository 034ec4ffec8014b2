/**
 * The conversation with Redis: the scripts, a Java method each, their replies and messages, ids and failures.
 *
 * <p>What is public here is public for the other packages of this library only.
 */
@NullMarked
package io.github.lockboot.redis.protocol;

import org.jspecify.annotations.NullMarked;
