package io.github.lockboot.sample.redpacket;

import java.util.Map;

import io.github.lockboot.sample.Money;

/**
 * The state of a packet.
 *
 * @param count the parts it was split into
 * @param remaining the parts that are still there
 * @param winners what each openid got
 */
record RedPacket(Money amount, int count, long remaining, Map<String, Money> winners) {}
