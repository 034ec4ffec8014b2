/** Caches of the application whose loaders run once per key in all instances. */
@NullMarked
package io.github.lockboot.cache;

import org.jspecify.annotations.NullMarked;
