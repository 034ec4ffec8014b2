/**
 * What every kind of registry is made of. It depends on {@code io.github.lockboot} only. Its types are public for the other
 * packages of this library; applications do not use them.
 */
@NullMarked
package io.github.lockboot.registry;

import org.jspecify.annotations.NullMarked;
