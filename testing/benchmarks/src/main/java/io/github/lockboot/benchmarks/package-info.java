/** Measures distributed locks side by side. */
@NullMarked
package io.github.lockboot.benchmarks;

import org.jspecify.annotations.NullMarked;
