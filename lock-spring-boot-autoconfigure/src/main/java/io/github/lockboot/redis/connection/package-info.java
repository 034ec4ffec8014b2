/**
 * How a script gets to Redis and a message back: Lettuce, Spring's template, and the connections that a registry owns.
 *
 * <p>What is public here is public for the other packages of this library only.
 */
@NullMarked
package io.github.lockboot.redis.connection;

import org.jspecify.annotations.NullMarked;
