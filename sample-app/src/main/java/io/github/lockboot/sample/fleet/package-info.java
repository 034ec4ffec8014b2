@NullMarked
package io.github.lockboot.sample.fleet;

import org.jspecify.annotations.NullMarked;
