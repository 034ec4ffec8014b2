/**
 * Locks as scripts: the scripts, the numbers of commands and their replies, and the texts of Redis' errors.
 *
 * <p>What is public here is public for the other packages of this library only.
 */
@NullMarked
package io.github.lockboot.redis.protocol;

import org.jspecify.annotations.NullMarked;
