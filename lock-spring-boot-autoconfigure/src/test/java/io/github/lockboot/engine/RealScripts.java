package io.github.lockboot.engine;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.github.lockboot.engine.ScriptedEngine.Call;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.redis.protocol.ClockedScripts;
import io.github.lockboot.redis.protocol.LockModel;
import org.jspecify.annotations.Nullable;

/** The scripts themselves, on a real Redis by the clock of a simulation, in place of {@link LockModel}. */
final class RealScripts {

    private final RedisProbe redis;
    private final ClockedScripts scripts;
    private final Map<String, Long> ends = new HashMap<>();

    RealScripts(RedisProbe redis) {
        this.redis = redis;
        this.scripts = new ClockedScripts(redis);
        redis.command("FLUSHALL");
    }

    LockModel.Outcome run(Call call, long micros) {
        List<String> arguments = Stream.of(call.arguments())
                .map(argument -> new String(argument, StandardCharsets.UTF_8))
                .toList();
        ClockedScripts.Seen seen = scripts.run(call.script(), call.key(), arguments, micros);
        ends.put(call.key(), micros / 1_000 + seen.stored().ttl());
        return new LockModel.Outcome(seen.reply(), seen.messages());
    }

    void delete(String key) {
        redis.command("DEL", key);
    }

    /** What the key has at this time; empty if it has expired. */
    String text(String key, long micros) {
        if (ends.getOrDefault(key, Long.MAX_VALUE) <= micros / 1_000) {
            redis.command("DEL", key);
        }
        @Nullable Object text = redis.command("GET", key);
        return text == null ? "" : (String) text;
    }
}
