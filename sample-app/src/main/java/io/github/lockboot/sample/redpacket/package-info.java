/** Red packets: one openid gets at most one part of a packet, however often and wherever it asks. */
@NullMarked
package io.github.lockboot.sample.redpacket;

import org.jspecify.annotations.NullMarked;
