@NullMarked
package io.github.lockboot.sample.token;

import org.jspecify.annotations.NullMarked;
