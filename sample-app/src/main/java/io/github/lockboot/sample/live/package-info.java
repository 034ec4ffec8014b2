@NullMarked
package io.github.lockboot.sample.live;

import org.jspecify.annotations.NullMarked;
