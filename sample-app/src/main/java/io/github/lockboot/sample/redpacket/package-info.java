@NullMarked
package io.github.lockboot.sample.redpacket;

import org.jspecify.annotations.NullMarked;
