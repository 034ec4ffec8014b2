package io.github.lockboot.faults;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.github.lockboot.faults.Event.Kind;
import io.github.lockboot.fixture.RedisProbe;
import org.jspecify.annotations.Nullable;

/**
 * Asks Redis some forty times a second who owns a lock of this library, for the history, and which of the library's keys have no TTL,
 * which none may ever lack. While Redis does not answer nothing is learned.
 */
final class ServerWatch implements AutoCloseable {

    private static final Duration EVERY = Duration.ofMillis(25);
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final String LOOK = """
            local unbounded = {}
            for _, key in ipairs(redis.call('KEYS', 'lock:*')) do
              if redis.call('PTTL', key) < 0 then
                unbounded[#unbounded + 1] = key
              end
            end
            local fence = '0'
            if redis.call('TYPE', KEYS[1]).ok == 'hash' then
              local state = redis.call('HMGET', KEYS[1], 'owner', 'until', 'fence')
              local time = redis.call('TIME')
              local now = tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000
              if state[1] and tonumber(state[2]) > now then
                fence = state[3]
              end
            end
            return {fence, unbounded}
            """;

    private final Deployment deployment;
    private final String lock;
    private final Queue<Event> events = new ConcurrentLinkedQueue<>();
    private final Set<String> unbounded = ConcurrentHashMap.newKeySet();
    private final Thread thread = new Thread(this::watch, "server-watch");
    private volatile boolean ended;

    ServerWatch(Deployment deployment, String lock) {
        this.deployment = deployment;
        this.lock = lock;
        thread.setDaemon(true);
        thread.start();
    }

    /** What Redis said, as events of the kind SERVER. */
    Queue<Event> events() {
        return events;
    }

    /** Keys that were seen without a TTL. */
    Set<String> unbounded() {
        return unbounded;
    }

    @Override
    public void close() {
        ended = true;
        try {
            thread.join(PATIENCE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void watch() {
        String key = Contestant.THIS_LIBRARY.key(lock);
        while (!ended) {
            try (RedisProbe probe = deployment.serverOf(key).probe(Duration.ofSeconds(1))) {
                while (!ended) {
                    look(probe, key);
                    Pause.of(EVERY);
                }
            } catch (UncheckedIOException | RedisProbe.ErrorReply | IllegalStateException noAnswer) {
                Pause.of(EVERY);
            }
        }
    }

    private void look(RedisProbe probe, String key) {
        long asked = System.nanoTime();
        Object reply = probe.command("EVAL", LOOK, "1", key);
        long told = System.nanoTime();
        List<?> answers = (List<?>) reply;
        if (answers != null) {
            events.add(new Event(asked, "redis", Kind.SERVER, lock, "-", longOf(answers.get(0)), told));
            if (answers.get(1) instanceof List<?> keys) {
                keys.forEach(found -> unbounded.add(String.valueOf(found)));
            }
        }
    }

    private static long longOf(@Nullable Object text) {
        return Long.parseLong(String.valueOf(text));
    }
}
