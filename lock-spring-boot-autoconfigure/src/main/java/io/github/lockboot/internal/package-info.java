/**
 * What all other packages stand on. It sees nothing of ours, and is public between our packages only: not for applications.
 */
@NullMarked
package io.github.lockboot.internal;

import org.jspecify.annotations.NullMarked;
