package io.github.lockboot.sample.redpacket;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.github.lockboot.sample.Money;
import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.Load;
import io.github.lockboot.sample.live.Scenario;
import io.github.lockboot.sample.live.Waits;
import io.github.lockboot.sample.redpacket.RedPacketService.RedPacket;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

/** A crowd of openids, each of whom taps many times at once, in all instances. */
@Component
@NeedsLocks
class RedPacketScenario extends Scenario {

    private static final String NAME = "red-packets";
    private static final String CURRENT = "sample:red-packet";
    private static final Money AMOUNT = new Money(100_000);
    private static final int PARTS = 200;
    private static final int OPENIDS = 300;
    private static final long TAPPING_MILLIS = 40;
    private static final Duration BETWEEN_TAPS = Duration.ofMillis(15);

    private final RedPacketService redPackets;
    private final StringRedisTemplate redis;
    private final Waits waits;
    private volatile String lastTapped = "packet:#openid+#redPacketId";

    RedPacketScenario(RedPacketService redPackets, StringRedisTemplate redis, Waits waits) {
        super(NAME, 8);
        this.redPackets = redPackets;
        this.redis = redis;
        this.waits = waits;
    }

    @Override
    public void prepare(Load load) {
        redis.opsForValue().set(CURRENT, redPackets.create(AMOUNT, PARTS), Duration.ofDays(1));
    }

    @Override
    public boolean step(Load load, int worker) throws InterruptedException {
        String id = redis.opsForValue().get(CURRENT);
        if (id != null) {
            String openid = openidOfTheMoment();
            lastTapped = "packet:" + openid + id;
            waits.during(NAME, () -> redPackets.grab(id, openid));
        }
        load.sleep(BETWEEN_TAPS);
        return true;
    }

    @Override
    public Object state() {
        String id = redis.opsForValue().get(CURRENT);
        if (id == null) {
            return Map.of();
        }
        RedPacket packet = redPackets.get(id);
        long given = packet.winners().values().stream().mapToLong(Money::cents).sum();
        return Map.of(
                "id", id,
                "amount", packet.amount(),
                "given", new Money(given),
                "count", packet.count(),
                "remaining", packet.remaining(),
                "winners", packet.winners().size(),
                "doubleGrabs", doubleGrabs(id));
    }

    /**
     * Parts that are gone and that no openid has. A part that is just being stored has a winner at one of the next
     * looks.
     */
    private long doubleGrabs(String id) {
        return Stream.generate(() -> redPackets.get(id))
                .limit(3)
                .mapToLong(packet ->
                        packet.count() - packet.remaining() - packet.winners().size())
                .min()
                .orElseThrow();
    }

    @Override
    public List<String> locks() {
        return List.of(lastTapped);
    }

    /** All workers tap for the same openid, which follows from the time. */
    private static String openidOfTheMoment() {
        return "o" + System.currentTimeMillis() / TAPPING_MILLIS % OPENIDS;
    }
}
