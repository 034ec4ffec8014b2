package io.github.lockboot.sample.live;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.springframework.data.domain.Range;
import org.springframework.data.redis.connection.RedisStreamCommands.XAddOptions;
import org.springframework.data.redis.connection.stream.MapRecord;
import org.springframework.data.redis.connection.stream.StreamRecords;
import org.springframework.data.redis.core.StreamOperations;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

import static java.util.Objects.requireNonNull;

/** The waiting times of all instances: a stream in Redis with a summary for every tick, instance and scenario. */
@Component
class WaitLog {

    private static final String KEY = "sample:waits";
    private static final int KEPT = 2_000;

    private final StringRedisTemplate redis;
    private final StreamOperations<String, String, String> streams;

    WaitLog(StringRedisTemplate redis) {
        this.redis = redis;
        this.streams = redis.opsForStream();
    }

    void add(String instance, Map<String, Waits.Summary> summaries) {
        summaries.forEach((scenario, waits) -> streams.add(
                StreamRecords.newRecord()
                        .in(KEY)
                        .ofMap(Map.of(
                                "instance", instance,
                                "scenario", scenario,
                                "count", String.valueOf(waits.count()),
                                "median", millis(waits.median()),
                                "longest", millis(waits.longest()))),
                XAddOptions.maxlen(KEPT)));
        if (!summaries.isEmpty()) {
            redis.expire(KEY, Duration.ofHours(1));
        }
    }

    /** What came within the given time before now, oldest first. */
    List<Map<String, String>> since(Duration ago) {
        String from = String.valueOf(System.currentTimeMillis() - ago.toMillis());
        List<Map<String, String>> waits = new ArrayList<>();
        List<MapRecord<String, String, String>> records =
                requireNonNull(streams.range(KEY, Range.rightUnbounded(Range.Bound.inclusive(from))));
        for (MapRecord<String, String, String> entry : records) {
            Map<String, String> wait = new HashMap<>(entry.getValue());
            wait.put("id", entry.getId().getValue());
            wait.put("at", String.valueOf(entry.getId().getTimestamp()));
            waits.add(wait);
        }
        return waits;
    }

    private static String millis(double millis) {
        return String.format(Locale.ROOT, "%.3f", millis);
    }
}
