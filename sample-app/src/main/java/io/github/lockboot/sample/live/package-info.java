/** What the page shows while it happens: instances, locks, loads, waiting times and events. */
@NullMarked
package io.github.lockboot.sample.live;

import org.jspecify.annotations.NullMarked;
