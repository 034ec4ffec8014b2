/**
 * Sends scripts to Redis and receives messages: through Lettuce, Spring's template, and a registry's own connections.
 *
 * <p>What is public here is public for the other packages of this library only.
 */
@NullMarked
package io.github.lockboot.redis.connection;

import org.jspecify.annotations.NullMarked;
