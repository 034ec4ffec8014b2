package io.github.lockboot.sample.redpacket;

import java.util.Map;

import io.github.lockboot.sample.Money;

/**
 * A packet as it stands.
 *
 * @param count the parts it was split into
 * @param remaining the parts nobody has taken yet
 * @param winners who got what, by openid
 */
record RedPacket(Money amount, int count, long remaining, Map<String, Money> winners) {}
