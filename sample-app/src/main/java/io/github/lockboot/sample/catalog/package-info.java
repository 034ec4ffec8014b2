@NullMarked
package io.github.lockboot.sample.catalog;

import org.jspecify.annotations.NullMarked;
