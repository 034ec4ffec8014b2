/**
 * One name in a registry and in the store: the handle, the line of waiters, the life of an id, holds and their renewal;
 * and the base of every registry. The package uses neither Spring nor the client of a store: it gets time, threads and
 * the store as parameters.
 *
 * <p>What is public here is public for the other packages of this library only.
 */
@NullMarked
package io.github.lockboot.engine;

import org.jspecify.annotations.NullMarked;
