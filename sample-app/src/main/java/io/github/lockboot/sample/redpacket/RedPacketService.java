package io.github.lockboot.sample.redpacket;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.random.RandomGenerator;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.sample.Money;
import org.springframework.data.redis.core.HashOperations;
import org.springframework.data.redis.core.ListOperations;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Service;

import static java.util.Objects.requireNonNull;

/** Red packets in Redis: a hash of the packet, a list of the parts that are left, a hash of the winners. */
@Service
class RedPacketService {

    private static final Duration KEPT = Duration.ofDays(1);

    private final RandomGenerator random = new SecureRandom();
    private final StringRedisTemplate redis;
    private final ListOperations<String, String> lists;
    private final HashOperations<String, String, String> hashes;

    RedPacketService(StringRedisTemplate redis) {
        this.redis = redis;
        this.lists = redis.opsForList();
        this.hashes = redis.opsForHash();
    }

    /** Returns the id of the new packet: 32 hexadecimal digits. */
    public String create(Money amount, int count) {
        String redPacketId = UUID.randomUUID().toString().replace("-", "");
        List<String> parts = RedPacketSplit.split(amount, count, random).stream()
                .map(part -> String.valueOf(part.cents()))
                .toList();
        lists.rightPushAll(partsKey(redPacketId), parts);
        redis.expire(partsKey(redPacketId), KEPT);
        // Last, so that a packet that can be found is complete.
        hashes.putAll(
                packetKey(redPacketId),
                Map.of("cents", String.valueOf(amount.cents()), "count", String.valueOf(count)));
        redis.expire(packetKey(redPacketId), KEPT);
        return redPacketId;
    }

    /**
     * Gives an openid a part of the packet, the same one each time it asks.
     *
     * <p>Nothing but the lock keeps two calls for one openid from finding no winner and taking a part each. The id has a
     * fixed length, so no two pairs share a key; other openids do not wait. A crash between taking and storing loses a part
     * and never gives two.
     */
    @DistributedLock(key = "#openid+#redPacketId")
    public Grab grab(String redPacketId, String openid) {
        String won = hashes.get(winnersKey(redPacketId), openid);
        if (won != null) {
            return Grab.of(money(won));
        }
        String part = lists.leftPop(partsKey(redPacketId));
        if (part == null) {
            requireExists(redPacketId);
            return Grab.SOLD_OUT;
        }
        hashes.put(winnersKey(redPacketId), openid, part);
        redis.expire(winnersKey(redPacketId), KEPT);
        return Grab.of(money(part));
    }

    public RedPacket get(String redPacketId) {
        Map<String, String> packet = hashes.entries(packetKey(redPacketId));
        if (packet.isEmpty()) {
            throw new UnknownRedPacketException(redPacketId);
        }
        Map<String, Money> winners = new TreeMap<>();
        hashes.entries(winnersKey(redPacketId)).forEach((openid, cents) -> winners.put(openid, money(cents)));
        long remaining = requireNonNull(lists.size(partsKey(redPacketId)));
        return new RedPacket(
                money(requireNonNull(packet.get("cents"))), Integer.parseInt(packet.get("count")), remaining, winners);
    }

    private void requireExists(String redPacketId) {
        if (!redis.hasKey(packetKey(redPacketId))) {
            throw new UnknownRedPacketException(redPacketId);
        }
    }

    private static Money money(String cents) {
        return new Money(Long.parseLong(cents));
    }

    private static String packetKey(String redPacketId) {
        return "red-packet:" + redPacketId;
    }

    private static String partsKey(String redPacketId) {
        return packetKey(redPacketId) + ":parts";
    }

    private static String winnersKey(String redPacketId) {
        return packetKey(redPacketId) + ":winners";
    }
}
