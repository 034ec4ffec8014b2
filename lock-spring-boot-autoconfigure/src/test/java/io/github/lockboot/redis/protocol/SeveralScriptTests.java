package io.github.lockboot.redis.protocol;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The scripts on several locks do what those on one do, for all or none, at a time that the test sets. */
class SeveralScriptTests {

    private static final String NUMBER = "4711";
    private static final String TTL = "30000";
    private static final String SETTINGS = LockModel.settings("client:", 100);
    private static final String OWNER = "OWNER 1800000000000123 30000 0";

    private static RedisServer server;
    private static RedisProbe redis;

    /** In 2027: the key of a lock lives by the clock of Redis, but all else by this one. */
    private long micros = 1_800_000_000_000_123L;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        redis = server.probe();
    }

    @AfterAll
    static void stop() {
        redis.close();
        server.close();
    }

    @BeforeEach
    void empty() {
        redis.command("FLUSHALL");
    }

    private String run(LuaScript script, List<String> keys, List<String> arguments) {
        return run(redis, script, keys, arguments);
    }

    private String run(RedisProbe client, LuaScript script, List<String> keys, List<String> arguments) {
        String clocked = "local clock = {table.remove(ARGV, #ARGV - 2), table.remove(ARGV, #ARGV - 1)}\n"
                + script.getScriptAsString().replace("redis.call('TIME')", "clock");
        List<String> words = new ArrayList<>(List.of("EVAL", clocked, "" + keys.size()));
        words.addAll(keys);
        words.addAll(arguments);
        words.addAll(List.of("" + micros / 1_000_000, "" + micros % 1_000_000, NUMBER));
        String reply = (String) client.command(words.toArray(String[]::new));
        assertThat(reply).startsWith(NUMBER + " ");
        return reply.substring(NUMBER.length() + 1);
    }

    private String acquire(String key, String id) {
        return run(LuaScript.ACQUIRE, List.of(key), List.of(id, SETTINGS, TTL, "0", "1"));
    }

    private String unlock(String key, String id, String last) {
        return run(LuaScript.UNLOCK, List.of(key), List.of(id, SETTINGS, last));
    }

    private static List<String> keys(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(i -> prefix + i).toList();
    }

    /** Of the k-th key the id is {@code <session>-<k>}, and then this. */
    private static List<String> arguments(String session, int count, String second) {
        return IntStream.range(0, count)
                .boxed()
                .flatMap(i -> Stream.of(session + "-" + i, second))
                .toList();
    }

    private List<String> acquireAll(List<String> keys, String session) {
        return all(run(LuaScript.ACQUIRE_ALL, keys, arguments(session, keys.size(), TTL)));
    }

    private List<String> unlockAll(List<String> keys, String session, String last) {
        return all(run(LuaScript.UNLOCK_ALL, keys, arguments(session, keys.size(), last)));
    }

    private static List<String> all(String reply) {
        assertThat(reply).startsWith("ALL ");
        return List.of(reply.substring(4).split(","));
    }

    /** All that is stored of a key, and whether it has a time to live. */
    private static String stored(String key) {
        String type = (String) redis.command("TYPE", key);
        long ttl = (Long) redis.command("PTTL", key);
        Object content = type.equals("string")
                ? String.valueOf(redis.command("GET", key)).replaceFirst("(single|together)", "k")
                : type.equals("hash") ? redis.command("HGETALL", key) : "";
        return type + content + (ttl > 0 ? " for " + Math.round(ttl / 10_000.0) + "0 s" : " " + ttl);
    }

    private static List<String> stored(List<String> keys) {
        return keys.stream().map(SeveralScriptTests::stored).toList();
    }

    private static void assertThatNoneExists(List<String> keys) {
        assertThat(keys).allMatch(key -> stored(key).equals("none -2"));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 20, 100})
    void freeLocksAreTakenAndReleasedAsOneByOne(int count) {
        List<String> together = keys("together", count);
        List<String> single = keys("single", count);
        List<String> replies = single.stream()
                .map(key -> acquire(key, "me-" + key.substring("single".length())))
                .toList();
        assertThat(acquireAll(together, "me")).isEqualTo(replies).containsOnly(OWNER);
        assertThat(stored(together)).isEqualTo(stored(single));
        micros += 1_000_000;
        String last = "1800000000000124";
        List<String> released = single.stream()
                .map(key -> unlock(key, "me-" + key.substring("single".length()), last))
                .toList();
        assertThat(unlockAll(together, "me", last)).isEqualTo(released).containsOnly("RELEASED");
        assertThatNoneExists(together);
        assertThatNoneExists(single);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 7, 19})
    void ifOneIsTakenNoOtherIsTouched(int taken) {
        List<String> keys = keys("k", 20);
        acquire("k" + taken, "other-1");
        List<String> before = stored(keys);
        redis.command("CONFIG", "RESETSTAT");
        assertThat(acquireAll(keys, "me")).hasSize(20).containsOnly("BUSY 0");
        assertThat(stored(keys)).isEqualTo(before);
        assertThat(redis.commandCalls()).doesNotContainKeys("set", "pexpire", "del");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"SET k1 text", "HSET k1 owner me-1", "RPUSH k1 text", "SET k1 [2,\"7\",[[\"me-1\",1,9e99,0]]]"})
    void whatIsNoLockIsNeitherTakenNorReleased(String command) {
        List<String> keys = keys("k", 3);
        redis.command(command.split(" "));
        List<String> before = stored(keys);
        assertThat(acquireAll(keys, "me")).containsOnly("BUSY 0");
        assertThat(unlockAll(keys, "me", "1")).containsOnly("SKIPPED");
        assertThat(stored(keys)).isEqualTo(before);
    }

    @Test
    void aSecondCopyChangesNothing() {
        List<String> keys = keys("k", 3);
        acquireAll(keys, "me");
        List<String> before = stored(keys);
        micros += 10_000_000;
        assertThat(acquireAll(keys, "me")).containsOnly("OWNER 1800000000000123 20000 0");
        acquire("k1", "waiter-1");
        assertThat(acquireAll(keys, "me"))
                .containsExactly(
                        "OWNER 1800000000000123 20000 0",
                        "OWNER 1800000000000123 20000 1",
                        "OWNER 1800000000000123 20000 0");
        assertThat(stored("k0")).isEqualTo(before.get(0));
    }

    /** As with one lock, a late copy may take what was released meanwhile; the registry then releases it again. */
    @Test
    void aLateCopyTakesOnlyWhatIsFree() {
        List<String> keys = keys("k", 3);
        acquireAll(keys, "me");
        micros += 1_000_000;
        unlock("k1", "me-1", "1");
        assertThat(acquireAll(keys, "me"))
                .containsExactly(
                        "OWNER 1800000000000123 29000 0",
                        "OWNER 1800000001000123 30000 0",
                        "OWNER 1800000000000123 29000 0");
        micros += 1_000_000;
        unlock("k1", "me-1", "1");
        unlock("k2", "me-2", "1");
        acquire("k2", "other-1");
        assertThat(acquireAll(keys, "me")).containsExactly("OWNER 1800000000000123 28000 0", "BUSY 0", "BUSY 0");
        assertThatNoneExists(List.of("k1"));
    }

    @Test
    void afterTheLeaseTheFormerOwnerMustAskAnew() {
        List<String> keys = keys("k", 2);
        acquireAll(keys, "me");
        micros += 30_000_000;
        assertThat(acquireAll(keys, "me")).containsOnly("BUSY 0");
    }

    @Test
    void onlyTheUsualCaseIsReleased() {
        List<String> keys = keys("k", 5);
        acquireAll(keys, "me");
        acquire("k1", "waiter-1");
        unlock("k2", "me-2", "1");
        redis.command("SET", "k3", String.valueOf(redis.command("GET", "k3")).replaceFirst("\\d+", "99"), "KEEPTTL");
        List<String> kept = List.of("k1", "k3"); // k2 only remembers its token, for a millisecond
        List<String> before = stored(kept);
        micros += 1_000_000;
        assertThat(unlockAll(keys, "me", "1800000000000124"))
                .containsExactly("RELEASED", "SKIPPED", "SKIPPED", "SKIPPED", "RELEASED");
        assertThat(stored(kept)).isEqualTo(before);
        acquireAll(List.of("k5", "k6"), "me");
        assertThat(unlockAll(List.of("k5", "k6"), "me", "" + (micros + 1))).containsOnly("SKIPPED");
    }

    @Test
    void aSecondCopyOfTheReleaseChangesNothing() {
        List<String> keys = keys("k", 3);
        acquireAll(keys, "me");
        micros += 1_000_000;
        unlockAll(keys, "me", "1");
        acquireAll(keys, "other");
        List<String> before = stored(keys);
        assertThat(unlockAll(keys, "me", "1")).containsOnly("SKIPPED");
        assertThat(stored(keys)).isEqualTo(before);
    }

    @Test
    void withoutTheRightToSetNothingStays() {
        redis.command("ACL", "SETUSER", "poor", "on", ">secret", "~*", "+@all", "-set");
        try (RedisProbe poor = server.probe()) {
            poor.command("AUTH", "poor", "secret");
            List<String> keys = keys("k", 20);
            assertThatThrownBy(() -> run(poor, LuaScript.ACQUIRE_ALL, keys, arguments("me", 20, TTL)))
                    .isInstanceOf(RedisProbe.ErrorReply.class);
            assertThatNoneExists(keys);
        } finally {
            redis.command("ACL", "DELUSER", "poor");
        }
    }
}
