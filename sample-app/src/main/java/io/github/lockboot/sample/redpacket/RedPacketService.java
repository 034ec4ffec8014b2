package io.github.lockboot.sample.redpacket;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.sample.Money;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.core.HashOperations;
import org.springframework.data.redis.core.ListOperations;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Service;
import org.springframework.web.server.ResponseStatusException;

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
        List<String> parts = split(amount, count, random).stream()
                .map(part -> String.valueOf(part.cents()))
                .toList();
        lists.rightPushAll(key(redPacketId) + ":parts", parts);
        redis.expire(key(redPacketId) + ":parts", KEPT);
        // Last, so that a packet that can be found is complete.
        hashes.putAll(
                key(redPacketId), Map.of("cents", String.valueOf(amount.cents()), "count", String.valueOf(count)));
        redis.expire(key(redPacketId), KEPT);
        return redPacketId;
    }

    /**
     * Gives an openid a part of the packet, the same one each time it asks.
     *
     * <p>Nothing but the lock keeps two calls for one openid from finding no winner and taking a part each. The id has
     * a fixed length, so no two pairs share a key; other openids do not wait. A crash between taking and storing loses
     * a part and never gives two.
     */
    @DistributedLock(
            name = "packet",
            key = "#openid+#redPacketId",
            message = "Your last try for this packet is still being handled; try again.")
    public Grab grab(String redPacketId, String openid) {
        String won = hashes.get(key(redPacketId) + ":winners", openid);
        if (won != null) {
            return new Grab(Money.ofCents(won), null);
        }
        String part = lists.leftPop(key(redPacketId) + ":parts");
        if (part == null) {
            if (!redis.hasKey(key(redPacketId))) {
                throw unknown(redPacketId);
            }
            return new Grab(null, "sold out");
        }
        hashes.put(key(redPacketId) + ":winners", openid, part);
        redis.expire(key(redPacketId) + ":winners", KEPT);
        return new Grab(Money.ofCents(part), null);
    }

    public RedPacket get(String redPacketId) {
        Map<String, String> packet = hashes.entries(key(redPacketId));
        if (packet.isEmpty()) {
            throw unknown(redPacketId);
        }
        Map<String, Money> winners = new TreeMap<>();
        hashes.entries(key(redPacketId) + ":winners")
                .forEach((openid, cents) -> winners.put(openid, Money.ofCents(cents)));
        long remaining = requireNonNull(lists.size(key(redPacketId) + ":parts"));
        return new RedPacket(
                Money.ofCents(requireNonNull(packet.get("cents"))),
                Integer.parseInt(packet.get("count")),
                remaining,
                winners);
    }

    private static ResponseStatusException unknown(String redPacketId) {
        return new ResponseStatusException(
                HttpStatus.NOT_FOUND, "There is no red packet '" + redPacketId + "'; packets are kept for a day.");
    }

    /**
     * Splits an amount into random parts. Gives every part one cent and cuts the rest, laid out as a line, at random
     * points. So the parts sum up exactly, none is empty, and each has the same chances whatever its place.
     *
     * @param count from 1 to the number of cents in the amount
     */
    static List<Money> split(Money amount, int count, RandomGenerator random) {
        long rest = amount.cents() - count;
        long[] points = new long[count + 1];
        Arrays.setAll(points, i -> i == count ? rest : i == 0 ? 0 : random.nextLong(rest + 1));
        Arrays.sort(points);
        return IntStream.range(0, count)
                .mapToObj(i -> new Money(1 + points[i + 1] - points[i]))
                .toList();
    }

    private static String key(String redPacketId) {
        return "red-packet:" + redPacketId;
    }

    /** What an openid got: its money, or the message that nothing is left. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Grab(@Nullable Money money, @Nullable String msg) {}

    /**
     * The state of a packet.
     *
     * @param count the parts it was split into
     * @param remaining the parts that are still there
     * @param winners what each openid got
     */
    record RedPacket(Money amount, int count, long remaining, Map<String, Money> winners) {}
}
