package io.github.lockboot.faults;

import java.time.Duration;
import java.util.List;
import java.util.Random;

import io.github.lockboot.faults.PermitHolder.Hold;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.harness.RedisAddress;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * All permits are held in a process that is killed, again and again, while the next process waits for them.
 * {@code -Drounds=} says how often, {@code -Dholders=} how many permits there are, {@code -Dseed=} repeats.
 */
@Tag("full")
class KilledPermitsTests {

    private static final String LOCK = "permits";
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final int permits = Integer.getInteger("holders", 20);

    @Test
    void permitsOfKilledProcessesComeBackWithinTheirTtlAndNoneIsHeldTwice() throws Exception {
        int rounds = Integer.getInteger("rounds", 3);
        long seed = Long.getLong("seed", System.currentTimeMillis());
        Random random = new Random(seed);
        long longest = 0;
        try (RedisServer server = RedisServer.start()) {
            RedisAddress redis = RedisAddress.standalone(server.host(), server.port());
            PermitHolder holder = started(redis);
            for (int round = 0; round < rounds; round++) {
                awaitAll(holder);
                try (PermitHolder killed = holder) {
                    holder = started(redis);
                    Pause.nanos((long) (Terms.TTL.toNanos() * random.nextDouble()));
                    long killedAt = System.nanoTime();
                    killed.kill();
                    awaitAll(holder);
                    List<Hold> next = bySince(holder);
                    for (int taken = 0; taken < permits; taken++) {
                        long at = next.get(taken).since();
                        long stillHeld = killed.holds().stream()
                                .filter(hold -> hold.until() > at)
                                .count();
                        assertThat(stillHeld + taken + 1)
                                .as("held at once, round %d, -Dseed=%d", round, seed)
                                .isLessThanOrEqualTo(permits);
                    }
                    long took = next.get(permits - 1).since() - killedAt;
                    assertThat(Duration.ofNanos(took))
                            .as("round %d, -Dseed=%d", round, seed)
                            .isLessThan(Terms.ONE_LEASE.plus(Terms.SLACK));
                    longest = Math.max(longest, took);
                }
            }
            holder.close();
        }
        System.out.println(rounds + " times " + permits + " permits of a killed process: all back within "
                + longest / 1_000_000 + " ms, with a ttl of " + Terms.TTL.toMillis() + " ms");
    }

    private PermitHolder started(RedisAddress redis) {
        PermitHolder holder = new PermitHolder(redis);
        holder.awaitReady();
        holder.take(LOCK, permits);
        return holder;
    }

    private void awaitAll(PermitHolder holder) {
        Await.until(
                PATIENCE,
                () -> holder.holds().size() == permits,
                () -> holder.holds().size() + " hold: " + holder);
    }

    private static List<Hold> bySince(PermitHolder holder) {
        return holder.holds().stream()
                .sorted((one, other) -> Long.compare(one.since(), other.since()))
                .toList();
    }
}
