@NullMarked
package io.github.lockboot.sample.kinds;

import org.jspecify.annotations.NullMarked;
