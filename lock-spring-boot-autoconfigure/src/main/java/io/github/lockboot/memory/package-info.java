/**
 * Locks in the memory of one process, for tests of code that uses locks: the engine of locks on Redis, with another
 * store. Sees neither Spring nor a Redis client.
 */
@NullMarked
package io.github.lockboot.memory;

import org.jspecify.annotations.NullMarked;
