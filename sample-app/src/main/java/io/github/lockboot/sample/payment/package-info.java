/** Payments from an account: three ways that go wrong, and the lock. */
@NullMarked
package io.github.lockboot.sample.payment;

import org.jspecify.annotations.NullMarked;
