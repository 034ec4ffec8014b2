/**
 * The base of all packages: time, threads and names. It uses nothing else of this library.
 *
 * <p>What is public here is public for the other packages of this library only.
 */
@NullMarked
package io.github.lockboot.internal;

import org.jspecify.annotations.NullMarked;
