@NullMarked
package io.github.lockboot.sample.handover;

import org.jspecify.annotations.NullMarked;
