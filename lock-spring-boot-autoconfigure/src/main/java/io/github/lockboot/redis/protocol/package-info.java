/**
 * The store of locks: its questions, replies, messages and failures, and the scripts that answer the questions on Redis.
 *
 * <p>What is public here is public for the other packages of this library only.
 */
@NullMarked
package io.github.lockboot.redis.protocol;

import org.jspecify.annotations.NullMarked;
