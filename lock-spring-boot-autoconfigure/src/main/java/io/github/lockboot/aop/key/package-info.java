/**
 * Key expressions: text of an annotation to a parsed expression, and that with the arguments of a call to the text of a key. It
 * sees nothing of ours but how long a lock's name may be, and is public between our packages only: not for applications.
 */
@NullMarked
package io.github.lockboot.aop.key;

import org.jspecify.annotations.NullMarked;
