package io.github.lockboot.sample.live;

import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

import io.github.lockboot.fixture.Await;
import io.github.lockboot.sample.SampleInstance;
import io.github.lockboot.sample.SampleInstance.Answer;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/** What tests of loads have in common: waiting for them, and looking into Redis afterwards. */
final class SampleLoads {

    static final List<String> ALL =
            List.of("red-packets", "token", "catalog", "payments", "tickets", "reports", "partner", "reindex");

    private SampleLoads() {}

    static void awaitEnd(SampleInstance sample) {
        Await.until("the end of all loads", () -> ALL.stream().noneMatch(sample.bean(Loads.class)::isRunning));
    }

    /** Waits for an event of that kind. */
    static Map<String, String> event(SampleInstance sample, String kind) {
        EventLog events = sample.bean(EventLog.class);
        Predicate<Map<String, String>> wanted = event -> kind.equals(event.get("kind"));
        Await.until("an event '" + kind + "'", () -> events.newest().stream().anyMatch(wanted));
        return events.newest().stream().filter(wanted).findFirst().orElseThrow();
    }

    /** Looks at all scenarios after a load, in Redis where the sample's own answers would prove nothing. */
    static void assertRight(SampleInstance sample) {
        StringRedisTemplate redis = sample.bean(StringRedisTemplate.class);
        assertRedPacket(sample, redis.opsForValue().get("sample:red-packet"));
        assertPayments(sample, redis);
        assertToken(sample);
        assertCatalog(redis);
        assertTickets(sample);
        assertKinds(redis);
    }

    private static void assertRedPacket(SampleInstance sample, String id) {
        Answer packet = sample.get("/red-packets/" + id);
        Map<String, String> winners = packet.read("$.winners");
        assertThat(winners).isNotEmpty();
        assertThat(packet.<Integer>read("$.count") - packet.<Integer>read("$.remaining"))
                .as("parts taken")
                .isEqualTo(winners.size());
    }

    private static void assertPayments(SampleInstance sample, StringRedisTemplate redis) {
        Answer report = sample.get("/accounts/demo/report");
        for (String mode : List.of("setnx", "expiring", "owned", "lock")) {
            boolean right = mode.equals("setnx") || mode.equals("lock");
            assertThat(report.<Integer>read("$." + mode + ".payments")).isPositive();
            assertThat(report.<Integer>read("$." + mode + ".overlaps") == 0)
                    .as(mode)
                    .isEqualTo(right);
            assertThat(report.<Integer>read("$." + mode + ".lostUpdates") == 0)
                    .as(mode)
                    .isEqualTo(right);
        }
        assertThat(missing(redis, "expiring")).isPositive();
        assertThat(missing(redis, "owned")).isPositive();
        assertThat(missing(redis, "lock")).isZero();
        assertThat(redis.getExpire("hand-made-lock:setnx:demo"))
                .as("after a crash, a key that never expires")
                .isEqualTo(-1);
    }

    /** Cents that were paid and are still in the balance. */
    private static long missing(StringRedisTemplate redis, String mode) {
        Map<String, String> account = redis.<String, String>opsForHash().entries("account:demo:" + mode);
        String paid = redis.<String, String>opsForHash().get("account:demo:" + mode + ":witness", "cents");
        return Long.parseLong(account.get("balance")) - Long.parseLong(account.get("opening")) + Long.parseLong(paid);
    }

    static void assertToken(SampleInstance sample) {
        StringRedisTemplate redis = sample.bean(StringRedisTemplate.class);
        Map<String, String> stats = redis.<String, String>opsForHash().entries("token:stats");
        long notYetAsked = redis.hasKey("token") ? 0 : 1;
        assertThat(Long.parseLong(stats.get("upstreamCalls")))
                .as("one call for each expiry")
                .isPositive()
                .isEqualTo(Long.parseLong(stats.get("expiries")) - notYetAsked);
        assertThat(sample.get("/token/stats").<Integer>read("$.waitersServed")).isPositive();
    }

    private static void assertCatalog(StringRedisTemplate redis) {
        Map<String, String> stats = redis.<String, String>opsForHash().entries("sample:catalog");
        long notYetLoaded = redis.hasKey("catalog::tea") ? 0 : 1;
        assertThat(Long.parseLong(stats.get("loads")))
                .as("one load for each eviction")
                .isPositive()
                .isEqualTo(Long.parseLong(stats.get("evictions")) - notYetLoaded);
    }

    static void assertTickets(SampleInstance sample) {
        Map<String, String> sale = sample.bean(StringRedisTemplate.class)
                .<String, String>opsForHash()
                .entries("tickets:demo");
        int sold = sale.entrySet().stream()
                .filter(field -> field.getKey().startsWith("sold:"))
                .mapToInt(field -> Integer.parseInt(field.getValue()))
                .sum();
        assertThat(sold)
                .isPositive()
                .isEqualTo(Integer.parseInt(sale.get("total")) - Integer.parseInt(sale.get("left")));
    }

    private static void assertKinds(StringRedisTemplate redis) {
        Map<String, String> reports = redis.<String, String>opsForHash().entries("sample:reports");
        assertThat(reports)
                .containsKeys("reports", "euros")
                .doesNotContainKey("torn")
                .containsEntry("dollars", reports.get("euros"));
        assertThat(reports.keySet()).as("several readers at once").anyMatch(key -> key.matches("at once:[2-9].*"));
        Map<String, String> partner = redis.<String, String>opsForHash().entries("sample:partner");
        assertThat(partner).containsKeys("calls", "at once:5").doesNotContainKey("at once:6");
        Map<String, String> reindex = redis.<String, String>opsForHash().entries("sample:reindex");
        assertThat(reindex).containsKeys("runs", "returned").containsEntry("indexed", reindex.get("changes"));
        assertThat(Long.parseLong(reindex.get("runs")) + Long.parseLong(reindex.get("returned")))
                .isEqualTo(Long.parseLong(reindex.get("changes")));
    }
}
