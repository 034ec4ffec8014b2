/**
 * The conversation with the store: its questions, their replies and messages, and failures; and on Redis a script for each question.
 *
 * <p>What is public here is public for the other packages of this library only.
 */
@NullMarked
package io.github.lockboot.redis.protocol;

import org.jspecify.annotations.NullMarked;
