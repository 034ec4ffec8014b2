@NullMarked
package io.github.lockboot.sample.ticket;

import org.jspecify.annotations.NullMarked;
