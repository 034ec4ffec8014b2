/**
 * One name in this JVM and in the store: the handle, the queue, the life of an id, holds and their renewal; and the
 * base of every registry. Sees neither Spring nor the client of a store: time, threads and the store come in from
 * outside.
 *
 * <p>What is public here is public for the other packages of this library only.
 */
@NullMarked
package io.github.lockboot.engine;

import org.jspecify.annotations.NullMarked;
