/** Windows that sell tickets, one at a time. */
@NullMarked
package io.github.lockboot.sample.ticket;

import org.jspecify.annotations.NullMarked;
