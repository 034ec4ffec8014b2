package io.github.lockboot.redis.protocol;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.StoredLock;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Our scripts on a real Redis, under a clock the test turns. Their text is as shipped but for three things: the time
 * comes with the call, a key is given a day more than it was meant to have (so that only the test lets it expire), and
 * what is published is noted too. Each call brings back all there is to see after it.
 */
public final class ClockedScripts {

    private static final long DAY = 86_400_000;
    private static final String NUMBER = "4711";

    /**
     * The key after a call: its text, empty if there is no key, and its TTL in ms or -1. The server's own clock counts
     * the TTL, also while a script runs: it may be smaller than what the script has set.
     */
    public record Stored(String text, long ttl) {

        StoredLock lock() {
            return StoredLock.of(text);
        }
    }

    public record Seen(List<Object> reply, List<String> messages, Stored stored) {}

    private final RedisProbe redis;
    private final Map<LuaScript, String> digests = new HashMap<>();

    public ClockedScripts(RedisProbe redis) {
        this.redis = redis;
        for (LuaScript script : List.of(LuaScript.ACQUIRE, LuaScript.UNLOCK, LuaScript.RENEW)) {
            digests.put(script, (String) redis.command("SCRIPT", "LOAD", clocked(script.getScriptAsString())));
        }
    }

    public Seen run(LuaScript script, String key, List<String> arguments, long micros) {
        List<String> words = new ArrayList<>(List.of("EVALSHA", digests.get(script), "1", key));
        words.addAll(arguments);
        words.add(Long.toString(micros / 1_000_000));
        words.add(Long.toString(micros % 1_000_000));
        words.add(NUMBER);
        List<Object> seen = list(redis.command(words.toArray(String[]::new)));
        String text = (String) seen.get(2);
        long ttl = (Long) seen.get(3);
        boolean ours = StoredLock.of(text).format() > 0 && ttl >= 0;
        return new Seen(
                words(NUMBER, seen.get(0)),
                list(seen.get(1)).stream().map(String.class::cast).toList(),
                new Stored(text, ours ? Math.max(0, ttl - DAY) : ttl));
    }

    /** Lets the key of a lock live as much longer as it should by the test's clock. */
    public void expireIn(String key, long millis) {
        redis.command("PEXPIRE", key, Long.toString(millis + DAY));
    }

    private static String clocked(String script) {
        String text = replaced(script, "redis.call('TIME')", "clock");
        text = replaced(text, "'PX', text(stay))", "'PX', text(stay + " + DAY + "))");
        text = text.replace("'NX', 'PX', ttl)", "'NX', 'PX', ttl + " + DAY + ")");
        return observed(replaced(text, "redis.pcall('PUBLISH', ", "publish("));
    }

    private static String observed(String text) {
        return """
                local clock = {table.remove(ARGV, #ARGV - 2), table.remove(ARGV, #ARGV - 1)}
                local published = {}
                local function publish(channel, message)
                  published[#published + 1] = channel .. ' ' .. message
                  return redis.pcall('PUBLISH', channel, message)
                end
                local reply = (function()
                %s
                end)()
                return {reply, published, redis.call('GET', KEYS[1]) or '', redis.call('PTTL', KEYS[1])}
                """.formatted(text);
    }

    /**
     * What one of our scripts answered to the command of this number: the status word, then numbers and texts; or one
     * text with the replies for several ids.
     */
    public static List<Object> words(String number, @Nullable Object line) {
        ByteBuffer bytes = line == null ? null : ByteBuffer.wrap(((String) line).getBytes(StandardCharsets.ISO_8859_1));
        String answer = LuaScript.answerTo(number.getBytes(StandardCharsets.US_ASCII), bytes);
        if (answer.matches("(RENEWED|NOT_HOLDER).*,.*")) {
            return List.of(answer);
        }
        String[] words = answer.split(" ", -1);
        List<Object> reply = new ArrayList<>(List.of(words[0]));
        for (String word : List.of(words).subList(1, words.length)) {
            reply.add(word.matches("-?\\d{1,18}") ? (Object) Long.valueOf(word) : word);
        }
        return reply;
    }

    private static String replaced(String text, String what, String by) {
        assertThat(text).contains(what);
        return text.replace(what, by);
    }

    @SuppressWarnings("unchecked")
    private static List<Object> list(@Nullable Object reply) {
        return (List<Object>) reply;
    }
}
