@NullMarked
package io.github.lockboot.sample.transfer;

import org.jspecify.annotations.NullMarked;
