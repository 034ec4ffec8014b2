@NullMarked
package io.github.lockboot.sample;

import org.jspecify.annotations.NullMarked;
