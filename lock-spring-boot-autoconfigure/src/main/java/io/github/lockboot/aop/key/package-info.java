/**
 * Key expressions: text of an annotation to a parsed expression, and that with the arguments of a call to the text of a key. Apart
 * from the longest name of a lock it sees no other package of ours, and is public between our packages only: not for applications.
 */
@NullMarked
package io.github.lockboot.aop.key;

import org.jspecify.annotations.NullMarked;
