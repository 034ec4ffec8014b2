/**
 * Key expressions: from the text of an annotation to a parsed expression, and with the arguments of a call to the text of a key. Sees
 * nothing of this library but the longest name of a lock. What is public here is for {@code aop} only.
 */
@NullMarked
package io.github.lockboot.aop.key;

import org.jspecify.annotations.NullMarked;
