/** The sample application: what every scenario shares. Each scenario has a package of its own below. */
@NullMarked
package io.github.lockboot.sample;

import org.jspecify.annotations.NullMarked;
