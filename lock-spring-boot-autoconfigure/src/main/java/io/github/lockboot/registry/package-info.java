/**
 * What every registry is made of. It sees {@link io.github.lockboot} only, and is public between our packages: not for
 * applications.
 */
@NullMarked
package io.github.lockboot.registry;

import org.jspecify.annotations.NullMarked;
