package io.github.lockboot.faults;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.github.lockboot.faults.Event.Kind;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.harness.Contender.Client;
import org.jspecify.annotations.Nullable;

/**
 * Asks Redis some forty times a second who owns the locks of this library that a run uses, for the history, and which
 * of the library's keys have no TTL, which none may ever lack. While Redis does not answer nothing is learned.
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
            local time = redis.call('TIME')
            local now = tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000
            local owners = {}
            for _, key in ipairs(KEYS) do
              local kind, fence = 0, '0'
              local state = redis.pcall('GET', key)
              if type(state) == 'string' and string.find(state, '^%[%d+,"%d+",%[%[') then
                local lock = cjson.decode(state)
                for _, holder in ipairs(lock[3]) do
                  if holder[3] > now then
                    kind, fence = holder[4], holder[5] or lock[2]
                  end
                end
              end
              owners[#owners + 1] = kind
              owners[#owners + 1] = fence
            end
            return {owners, unbounded}
            """;

    private final Deployment deployment;
    private final List<String> locks;
    private final Queue<Event> events = new ConcurrentLinkedQueue<>();
    private final Set<String> unbounded = ConcurrentHashMap.newKeySet();
    private final Thread thread = new Thread(this::watch, "server-watch");
    private volatile boolean ended;

    /** @param locks whose keys are in one slot */
    ServerWatch(Deployment deployment, List<String> locks) {
        this.deployment = deployment;
        this.locks = locks;
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
        List<String> keys = locks.stream().map(Contestant.THIS_LIBRARY::key).toList();
        List<String> command = new ArrayList<>(List.of("EVAL", LOOK, "" + keys.size()));
        command.addAll(keys);
        while (!ended) {
            try (RedisProbe probe = deployment.serverOf(keys.get(0)).probe(Duration.ofSeconds(1))) {
                while (!ended) {
                    look(probe, command.toArray(String[]::new));
                    Pause.of(EVERY);
                }
            } catch (UncheckedIOException | RedisProbe.ErrorReply | IllegalStateException noAnswer) {
                Pause.of(EVERY);
            }
        }
    }

    private void look(RedisProbe probe, String... command) {
        long asked = System.nanoTime();
        Object reply = probe.command(command);
        long told = System.nanoTime();
        if (reply instanceof List<?> answers
                && answers.get(0) instanceof List<?> owners
                && answers.get(1) instanceof List<?> keys) {
            for (int i = 0; i < locks.size(); i++) {
                int limit = limitOf(longOf(owners.get(2 * i)));
                long token = longOf(owners.get(2 * i + 1));
                events.add(new Event(asked, "redis", Kind.SERVER, locks.get(i), "-", limit, token, told));
            }
            keys.forEach(found -> unbounded.add(String.valueOf(found)));
        }
    }

    /** The kinds in Redis are 0 for an exclusive owner, -1 for readers, or the number of permits. */
    private static int limitOf(long kind) {
        return kind < 0 ? Client.UNLIMITED : Math.max(1, (int) kind);
    }

    private static long longOf(@Nullable Object text) {
        return Long.parseLong(String.valueOf(text));
    }
}
