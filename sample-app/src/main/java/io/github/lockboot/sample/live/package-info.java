/** What the page shows live: instances, locks, loads, waiting times and events. */
@NullMarked
package io.github.lockboot.sample.live;

import org.jspecify.annotations.NullMarked;
