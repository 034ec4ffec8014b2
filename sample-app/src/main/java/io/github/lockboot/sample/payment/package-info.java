@NullMarked
package io.github.lockboot.sample.payment;

import org.jspecify.annotations.NullMarked;
