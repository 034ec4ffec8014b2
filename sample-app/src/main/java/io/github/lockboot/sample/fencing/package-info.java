@NullMarked
package io.github.lockboot.sample.fencing;

import org.jspecify.annotations.NullMarked;
