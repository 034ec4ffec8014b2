/**
 * Key expressions: parses the text of an annotation, and evaluates it with the arguments of a call to the text of a
 * key. Of this library it uses only the maximum length of a lock's name. Only {@code aop} uses it.
 */
@NullMarked
package io.github.lockboot.aop.key;

import org.jspecify.annotations.NullMarked;
