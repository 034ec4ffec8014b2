package io.github.lockboot.sample.live;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.springframework.core.env.Environment;
import org.springframework.data.domain.Range;
import org.springframework.data.redis.connection.Limit;
import org.springframework.data.redis.connection.RedisStreamCommands.XAddOptions;
import org.springframework.data.redis.connection.stream.MapRecord;
import org.springframework.data.redis.connection.stream.StreamRecords;
import org.springframework.data.redis.core.StreamOperations;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

import static java.util.Objects.requireNonNull;

/** The latest events of all instances, in short streams in Redis. */
@Component
public class EventLog {

    private static final String KEY = "sample:events";
    private static final int KEPT = 1_000;
    private static final int SHOWN = 12;

    private final Environment environment;
    private final StringRedisTemplate redis;
    private final StreamOperations<String, String, String> streams;

    EventLog(Environment environment, StringRedisTemplate redis) {
        this.environment = environment;
        this.redis = redis;
        this.streams = redis.opsForStream();
    }

    public void add(String kind, Map<String, String> details) {
        add(KEY, kind, details);
    }

    /**
     * @param key of the stream
     * @param details by name, as the page's sentence for this kind of event uses them
     */
    public void add(String key, String kind, Map<String, String> details) {
        Map<String, String> event = new HashMap<>(details);
        event.put("kind", kind);
        event.put("instance", environment.getProperty("local.server.port", "?"));
        streams.add(StreamRecords.newRecord().in(key).ofMap(event), XAddOptions.maxlen(KEPT));
        redis.expire(key, Duration.ofDays(1));
    }

    List<Map<String, String>> newest() {
        return newest(KEY, SHOWN);
    }

    /** Newest first; each with its {@code id} and with the time it happened as {@code at}, in ms since 1970. */
    public List<Map<String, String>> newest(String key, int count) {
        List<Map<String, String>> newest = new ArrayList<>();
        List<MapRecord<String, String, String>> records =
                streams.reverseRange(key, Range.unbounded(), Limit.limit().count(count));
        for (MapRecord<String, String, String> entry : requireNonNull(records)) {
            Map<String, String> event = new HashMap<>(entry.getValue());
            event.put("id", entry.getId().getValue());
            event.put("at", String.valueOf(entry.getId().getTimestamp()));
            newest.add(event);
        }
        return newest;
    }
}
