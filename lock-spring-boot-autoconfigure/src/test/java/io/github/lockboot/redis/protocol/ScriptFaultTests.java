package io.github.lockboot.redis.protocol;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.lockboot.engine.GrantChannel.Push;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import io.github.lockboot.fixture.StoredLock.Waiter;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The scripts as shipped, on a Redis that is out of memory, on values that are not ours or damaged, at the edges of
 * numbers and names.
 */
class ScriptFaultTests {

    private static final String KEY = "lock:fault";
    private static final String CHANNELS = "lock:client:";
    private static final String REFUSED = "(?s).*(permission|can't run).*";
    private static final long LARGEST_EXACT = 1L << 53;
    private static final Set<String> REFUSALS = Set.of("BUSY", "NOT_HOLDER");
    private static final Set<String> REPLIES =
            Set.of("GRANTED", "QUEUED", "RELEASED", "GRANTED_NEXT", "RENEWED", "KEPT", "SHOWN");

    private RedisServer server;
    private RedisProbe redis;

    @AfterEach
    void stop() {
        if (server != null) {
            redis.close();
            server.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void whenMemoryIsFullAHolderRenewsAndHandsOver(RedisProgram program) {
        start(program);
        long token = (Long) acquire(KEY, "a-1", true).get(1);
        acquire(KEY, "b-1", true);
        acquire(KEY, "c-1", true);
        fillMemory();
        assertThat(renew(KEY, "a-1", token).get(0)).isEqualTo("RENEWED");
        assertThat(unlock(KEY, "a-1", token, "a-2").get(0)).isEqualTo("QUEUED");
        assertThat(unlock(KEY, "c-1", 0, "")).containsExactly("NOT_HOLDER");
        assertThat(unlock(KEY, "b-1", token, "")).containsExactly("GRANTED_NEXT");
        assertThat(unlock(KEY, "a-2", 0, "")).containsExactly("RELEASED");
        assertThat(redis.command("EXISTS", KEY)).isEqualTo(0L);
    }

    @ParameterizedTest
    @EnumSource
    void whenMemoryIsFullPermitsAreRenewed(RedisProgram program) {
        start(program);
        long one = (Long) run(LuaScript.ACQUIRE, KEY, "a-1", 30_000, 2, 1).get(1);
        long other = (Long) run(LuaScript.ACQUIRE, KEY, "a-2", 30_000, 2, 1).get(1);
        fillMemory();
        assertThat((String) renewPermits("a-1", one, "a-2", other).get(0)).matches("RENEWED \\d+ 0,RENEWED \\d+ 0");
    }

    @ParameterizedTest
    @EnumSource
    void whenMemoryIsFullALockIsReleased(RedisProgram program) {
        start(program);
        long token = (Long) acquire(KEY, "a-1", true).get(1);
        fillMemory();
        assertThat(unlock(KEY, "a-1", token, "")).containsExactly("RELEASED");
        assertThat(redis.command("EXISTS", KEY)).isEqualTo(0L);
    }

    @ParameterizedTest
    @EnumSource
    void whereATimeToLiveMayNotBeChangedNoLockIsLeftWithoutOne(RedisProgram program) {
        start(program);
        redis.command("ACL", "SETUSER", "default", "-pexpire");
        long token = (Long) acquire(KEY, "a-1", true).get(1);
        assertThat((Long) redis.command("PTTL", KEY)).isPositive();
        fillMemory();
        assertThatThrownBy(() -> renew(KEY, "a-1", token))
                .isInstanceOf(RedisProbe.ErrorReply.class)
                .hasMessageMatching(REFUSED);
        assertThat((Long) redis.command("PTTL", KEY)).isPositive();
    }

    /** Not even if there is a lock: the error is not taken for a foreign key. */
    @ParameterizedTest
    @ValueSource(strings = {"get", "set"})
    void whereAKeyMayNotBeReadOrWrittenTheErrorOfRedisSaysSo(String command) {
        start(RedisProgram.EMBEDDED);
        redis.command("ACL", "SETUSER", "default", "-" + command);
        if (command.equals("set")) {
            assertThatThrownBy(() -> acquire(KEY, "a-1", true)).hasMessageMatching(REFUSED);
            assertThat(redis.command("EXISTS", KEY)).isEqualTo(0L);
        }
        redis.command("ACL", "SETUSER", "default", "+" + command);
        long token = (Long) acquire(KEY, "a-1", true).get(1);
        redis.command("ACL", "SETUSER", "default", "-" + command);
        assertThatThrownBy(() -> renew(KEY, "a-1", token)).hasMessageMatching(REFUSED);
        assertThatThrownBy(() -> acquire(KEY, "b-1", true)).hasMessageMatching(REFUSED);
        assertThat((Long) redis.command("PTTL", KEY)).isPositive();
    }

    @ParameterizedTest
    @EnumSource
    void whenMemoryIsFullANewLockIsRefusedAndLeavesNothing(RedisProgram program) {
        start(program);
        fillMemory();
        assertThatThrownBy(() -> acquire(KEY, "a-1", true))
                .isInstanceOf(RedisProbe.ErrorReply.class)
                .hasMessageContaining("OOM");
        assertThat(redis.command("DBSIZE")).isEqualTo(0L);
    }

    @ParameterizedTest
    @EnumSource
    void whenMemoryIsFullAHolderReleasesAndItsTokenStays(RedisProgram program) {
        start(program);
        long token = (Long) acquire(KEY, "a-1", true).get(1);
        fillMemory();
        assertThat(unlock(KEY, "a-1", token + 1_000_000_000, "")).containsExactly("RELEASED"); // its key stays a while
        assertThat((String) redis.command("GET", KEY)).matches("\\[1,\"\\d+\"]");
    }

    @ParameterizedTest
    @EnumSource
    void aKeyThatOnlyKeepsATokenHasATimeToLive(RedisProgram program) {
        start(program);
        long now = System.currentTimeMillis();
        StoredLock.exclusive(1, 7, "a-1", 30_000, 1)
                .withQueue(0, List.of(new Waiter("b-1", 30_000, now, 0)))
                .storeAt(redis, KEY);
        assertThat(unlock(KEY, "b-1", 0, "")).as("granted by this very script").containsExactly("RELEASED");
        assertThat((Long) redis.command("PTTL", KEY)).isNotEqualTo(-1L);
    }

    @ParameterizedTest
    @EnumSource
    void valuesOfAnyOtherTypeAreLeftAlone(RedisProgram program) {
        start(program);
        List<String[]> strangers = List.of(
                new String[] {"SET", KEY, "me", "PX", "60000"},
                new String[] {"RPUSH", KEY, "me"},
                new String[] {"SADD", KEY, "me"},
                new String[] {"ZADD", KEY, "1", "me"},
                new String[] {"XADD", KEY, "*", "me", "1"},
                new String[] {"PFADD", KEY, "me"},
                new String[] {"HSET", KEY, "owner", "a-1", "name", "me"},
                new String[] {"HSET", KEY, "v", "1", "owner", "a-1", "ttl", "1000", "until", "1", "fence", "7"},
                value(""),
                value("7"),
                value("{\"name\":\"me\"}"),
                value("[]"),
                value("[1]"),
                value("[1,7]"),
                value("[1,\"me\"]"),
                value("[1,\"7\",\"me\"]"),
                value("[1,\"7\"]me"),
                value("[1,\"7"),
                value("[0,\"7\"]"),
                value("[1.5,\"7\"]"),
                value("[2,\"7\",[[\"a-1\",1000,1,0]]]"),
                value("[\"x\",\"7\",[[\"a-1\",1000,1,0]]]"),
                value("[1,\"9007199254740992\",[[\"a-1\",1000,1,0]]]"),
                value("[1,\"7\",[[\"a-1\",1000,1,0]],\"\",0,0,[[\"b-1\",1000,1]],\"me\"]"),
                value("[1,\"7\",[[\"a-1\",1000,1,0]],\"\",0,0,[[\"a-1\",1000,1,\"x\"]]]"),
                value("[1,\"7\",[[\"a-1\",1000,1,0]],\"\",0,0,[[\"b-1\",1000,1,0,\"me\"]]]"),
                value("[1,\"7\",[[\"a-1\",1000,1,0]],\"\",\"me\"]"),
                value("[1,\"7\",[[\"a-1\",1000,1,0]],\"\",1,null]"),
                value("[1,\"7\",[[\"a-1\",1000,1,0]],\"\",1e99,0]"),
                value("[1,\"7\",[[\"a-1\",1000,1,0]],\"\",0,0,{\"name\":\"me\"}]"),
                value("[1,\"7\",[[\"a-1\",1000,1,0]],\"\",0,0,[[\"b-1\",1000,1,0,2]]]"),
                value("[1,\"7\",[[\"a-1\",1000,1,0]],\"\",0,0,[[\"b-1\",1000,1,0,1,\"me\"]]]"),
                value("[1,\"7\",[],\"\",1,1,[]]"),
                value("[1,\"7\"," + "[".repeat(2_000) + "]".repeat(2_000) + "]"),
                holders("[]"),
                holders("{}"),
                holders("a-1"),
                holders("[[\"a-1\"]]"),
                holders("[[\"a-1\",1000,1,0,\"7\"]]"),
                holders("[[\"a-1\",1000,1,0],[\"b-1\",1000,1,0]]"),
                holders("[[\"a-1\",1000,1,0],[\"b-1\",1000,1,2,\"7\"]]"),
                holders("[[\"a-1\",1000,1,-1]]"),
                holders("[[\"a-1\",1000,1,-2,\"7\"]]"),
                holders("[[\"a-1\",1000,1,1.5,\"7\"]]"),
                holders("[[\"a-1\",1000,1,-1,7]]"),
                holders("[[\"a-1\",1000,1,-1,\"7\",\"me\"]]"),
                holders("[[\"a-1\",1000,1,-1,\"7\"],[\"b-1\",1000,1,2,\"7\"]]"),
                holders("[[\"a-1\",1000,1,2,\"7\"],null]"),
                holders("[[\"a-1\",1000,1,-1,\"7\"]],\"x\""),
                holders("[[\"a-1\",1000,1,-1,\"7\"]],\"8\""));
        for (String[] stranger : strangers) {
            redis.command("DEL", KEY);
            redis.command(stranger);
            String before = dump();
            assertThat(acquire(KEY, "a-1", true).get(0)).isEqualTo("BUSY");
            assertThat(renew(KEY, "a-1", 1)).containsExactly("NOT_HOLDER");
            assertThat(renewPermits("a-1", 1, "b-1", 7)).containsExactly("NOT_HOLDER,NOT_HOLDER");
            assertThat(unlock(KEY, "a-1", 1, "a-2")).containsExactly("NOT_HOLDER");
            assertThat(keep(KEY, "a-1", 7)).containsExactly("NOT_HOLDER");
            assertThat(downgrade(KEY, "a-1", 1)).containsExactly("NOT_HOLDER");
            assertThat(isForeign()).isTrue();
            assertThat(dump()).as(String.join(" ", stranger)).isEqualTo(before);
        }
    }

    /** Nor do the scripts for usual cases touch it, whoever its owner and waiters are. */
    @ParameterizedTest
    @EnumSource
    void aLockOfANewerFormatIsLeftAlone(RedisProgram program) {
        start(program);
        long now = System.currentTimeMillis();
        List<Waiter> queue = List.of(new Waiter("b-1", 30_000, now, 0), new Waiter("c-1", 30_000, now, 0));
        StoredLock held = StoredLock.exclusive(2, 7, "a-1", 30_000, now + 20_000);
        for (StoredLock newer : List.of(held, held.withQueue(now, queue))) {
            newer.storeAt(redis, KEY);
            String before = dump();
            assertThat(unlock(KEY, "a-1", 7, "")).containsExactly("NOT_HOLDER");
            assertThat(unlock(KEY, "a-1", 7, "a-2")).containsExactly("NOT_HOLDER");
            assertThat(acquire(KEY, "c-1", true).get(0)).isEqualTo("BUSY");
            assertThat(dump()).isEqualTo(before);
        }
    }

    /** It may lack what its master has, or have what its master has no more. */
    @ParameterizedTest
    @EnumSource
    void aReplicaAnswersNobodyThatItsHoldHasEnded(RedisProgram program) {
        start(program);
        long other = (Long) acquire(KEY, "b-1", true).get(1);
        redis.command("REPLICAOF", "127.0.0.1", "1");
        for (String key : List.of(KEY, "lock:none")) {
            assertRefusedByReplica(() -> renew(key, "a-1", other));
            assertRefusedByReplica(() -> run(LuaScript.RENEW, key, "a-1", other, 30_000, "a-2", other, 30_000));
            assertRefusedByReplica(() -> unlock(key, "a-1", other, ""));
            assertRefusedByReplica(() -> unlock(key, "a-1", other, "a-2"));
            assertRefusedByReplica(() -> keep(key, "a-1", other));
            assertRefusedByReplica(() -> downgrade(key, "a-1", other));
            assertRefusedByReplica(() -> transfer(key, "a-1", other, "a-2"));
        }
        assertThat(run(LuaScript.SHOW, KEY, "").get(4)).hasToString("1");
        assertRefusedByReplica(() -> run(LuaScript.SHOW, "lock:none", ""));
    }

    private static void assertRefusedByReplica(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(RedisProbe.ErrorReply.class).hasMessageContaining("READONLY");
    }

    private static String[] value(String text) {
        return new String[] {"SET", KEY, text};
    }

    private static String[] holders(String holders) {
        return value("[1,\"7\"," + holders + "]");
    }

    /** What is damaged is either left alone or whole again afterwards. */
    @ParameterizedTest
    @EnumSource
    void noDamageToALockMakesAScriptFail(RedisProgram program) {
        start(program);
        for (long seed = 0; seed < 3_000; seed++) {
            Random random = new Random(seed);
            redis.command("DEL", KEY);
            String state = damagedState(random);
            redis.command("SET", KEY, state);
            if (random.nextBoolean()) {
                redis.command("PEXPIRE", KEY, "60000");
            }
            for (int call = 0; call < 4; call++) {
                String before = dump();
                List<Object> reply = anyCall(random);
                String as = "seed " + seed + ", " + shortened(state) + " answered " + reply;
                assertThat(reply.get(0).toString().split("[ ,]")[0])
                        .as(as)
                        .matches(word -> REFUSALS.contains(word) || REPLIES.contains(word));
                assertThat(reply.stream().filter(Long.class::isInstance))
                        .as(as)
                        .allMatch(number -> (Long) number >= 0 || reply.get(0).equals("SHOWN"));
                if (!dump().equals(before)) {
                    assertWhole(as);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aVeryLongQueueIsServed(RedisProgram program) {
        start(program);
        long now = System.currentTimeMillis();
        List<Waiter> queue = IntStream.range(0, 20_000)
                .mapToObj(i -> new Waiter("s" + i + "-1", 30_000, now, 0))
                .toList();
        StoredLock.exclusive(1, 7, "z-1", 30_000, 1).withQueue(0, queue).storeAt(redis, KEY);
        assertThat(acquire(KEY, "a-1", false).get(0)).isEqualTo("BUSY");
        assertThat(StoredLock.at(redis, KEY).owner()).isEqualTo("s0-1");
        assertThat(unlock(KEY, "s0-1", 0, "")).containsExactly("GRANTED_NEXT");
        assertThat(StoredLock.at(redis, KEY).owner()).isEqualTo("s1-1");
    }

    @ParameterizedTest
    @EnumSource
    void tokensGrowAndStayExactUpToTheLargestThatCanBe(RedisProgram program) {
        start(program);
        long newest = LARGEST_EXACT - 200_000;
        redis.command("SET", KEY, "[1,\"" + newest + "\"]");
        for (int grant = 0; grant < 8; grant++) {
            List<Object> reply = acquire(KEY, "a-" + grant, true);
            if (!reply.get(0).equals("GRANTED")) {
                break;
            }
            assertThat((Long) reply.get(1)).isGreaterThan(newest).isLessThanOrEqualTo(LARGEST_EXACT);
            assertThat(StoredLock.at(redis, KEY).fence()).isEqualTo(reply.get(1));
            newest = (Long) reply.get(1);
            StoredLock.exclusive(1, newest, "a-" + grant, 30_000, 1)
                    .storeAt(redis, KEY); // 65,536 tokens expire with it
        }
        assertThat(newest).isGreaterThan(LARGEST_EXACT - 70_000);
        assertThat(acquire(KEY, "z-1", true).get(0)).as("no token left").isEqualTo("BUSY");
    }

    @ParameterizedTest
    @EnumSource
    void aLeaseOfThousandsOfYearsEndsByUnlock(RedisProgram program) {
        start(program);
        long ttl = 999_999_999_999_999L;
        List<Object> owner = run(LuaScript.ACQUIRE, KEY, "a-1", ttl, 0, 1);
        assertThat(owner).startsWith("GRANTED").endsWith(ttl, 0L);
        assertThat((Long) run(LuaScript.RENEW, KEY, "a-1", owner.get(1), ttl).get(1))
                .isGreaterThanOrEqualTo(ttl - 1_000);
        assertThat(acquire(KEY, "b-1", false).get(0)).isEqualTo("BUSY");
        assertThat(unlock(KEY, "a-1", (Long) owner.get(1), "")).containsExactly("RELEASED");
    }

    @ParameterizedTest
    @EnumSource
    void idsAndKeysOfAnyCharactersAreServedAndTold(RedisProgram program) {
        start(program);
        List<String> ids =
                List.of("a-b-c-1", "\"quoted\\\"/-1", "%s%d-1", "锁-1", "[\"x\",1,2]-1", "no_dash", "\t\u0001-1");
        List<String> keys = List.of("lock:a b  c ", "lock:line\r\nfeed", "lock:红包🧧", "lock:{tag}\\\"%s'", "lock: ");
        for (String key : keys) {
            for (String id : ids) {
                int dash = id.lastIndexOf('-');
                String session = dash < 0 ? id : id.substring(0, dash);
                try (RedisProbe subscriber = server.probe()) {
                    subscriber.command("SUBSCRIBE", CHANNELS + session);
                    long token = (Long) acquire(key, "holder-1", true).get(1);
                    assertThat(acquire(key, id, true).get(0)).isEqualTo("QUEUED");
                    assertThat(unlock(key, "holder-1", token, "")).containsExactly("GRANTED_NEXT");
                    List<?> message = (List<?>) Objects.requireNonNull(subscriber.command("PING"));
                    Push push = Objects.requireNonNull(Push.parse((String) message.get(2)));
                    assertThat(push.id()).isEqualTo(id);
                    assertThat(push.key()).isEqualTo(key);
                    assertThat(unlock(key, id, push.grantNumber(), "")).containsExactly("RELEASED");
                }
            }
        }
    }

    private void start(RedisProgram program) {
        server = program.start();
        redis = server.probe();
        for (LuaScript script : scripts()) {
            redis.command("SCRIPT", "LOAD", script.getScriptAsString());
        }
    }

    private void fillMemory() {
        redis.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
        redis.command("CONFIG", "SET", "maxmemory", "1");
    }

    private List<Object> anyCall(Random random) {
        String id = List.of("a-1", "b-1", "z-1").get(random.nextInt(3));
        return switch (random.nextInt(12)) {
            case 10 -> transfer(KEY, id, random.nextInt(10), "b-2");
            case 9 -> keep(KEY, id, random.nextInt(10));
            case 8 -> renewPermits(id, 7, "z-1", random.nextInt(10));
            case 7 -> downgrade(KEY, id, random.nextInt(10));
            case 6 -> run(LuaScript.ACQUIRE, KEY, id, 30_000, random.nextInt(4) - 1, 1);
            case 5 -> unlock(KEY, id, random.nextInt(10), "");
            case 0 -> acquire(KEY, id, random.nextBoolean());
            case 1 -> unlock(KEY, id, random.nextInt(10), random.nextBoolean() ? "" : "b-1".equals(id) ? "b-2" : "b-1");
            case 2 -> renew(KEY, id, 7);
            case 3 -> unlock(KEY, id, 0, "");
            case 4 -> run(LuaScript.SHOW, KEY, "");
            default -> acquire(KEY, id, true);
        };
    }

    private static String damagedState(Random random) {
        long now = System.currentTimeMillis();
        boolean mostlySound = random.nextInt(4) > 0;
        int damaged = random.nextInt(7);
        boolean several = random.nextBoolean();
        String limit = random.nextBoolean() ? "-1" : "3";
        String holder = "[\"a-1\",30000," + (now + 1_000) + (several ? "," + limit + ",\"7\"]" : ",0]");
        List<String> sound = List.of(
                random.nextInt(20) == 0 ? "2" : "1",
                "\"7\"",
                several ? "[" + holder + "," + holder.replace("a-1", "z-1") + "]" : "[" + holder + "]",
                several ? "\"5\"" : "\"\"",
                Long.toString(now - random.nextInt(8_000)),
                Long.toString(now - random.nextInt(8_000)),
                "[[\"b-1\",30000," + now + List.of("", ",-1", ",2").get(random.nextInt(3)) + "]]");
        List<String> parts = new ArrayList<>();
        for (int i = 0; i < sound.size(); i++) {
            boolean damage = mostlySound ? i == damaged : random.nextBoolean();
            if (damage && random.nextInt(5) == 0) {
                continue;
            }
            String good = i == 6 ? "[\"b-1\",30000," + now + "]" : holder;
            String bad = i == 2 || i == 6 ? damagedList(random, good, now) : garbage(random);
            parts.add(!damage ? sound.get(i) : i == 1 || i == 3 ? "\"" + bad + "\"" : bad);
        }
        return "["
                + String.join(",", random.nextInt(4) > 0 ? parts : parts.subList(0, random.nextInt(parts.size() + 1)))
                + "]";
    }

    private static String garbage(Random random) {
        List<String> known = List.of(
                "",
                " ",
                "0",
                "-0",
                "-1",
                "1",
                "1.5",
                "nan",
                "-nan",
                "inf",
                "-inf",
                "1e999",
                "1e3",
                "0x10",
                " 7 ",
                "7\n",
                "abc",
                "9007199254740992",
                "9007199254740993",
                "18446744073709551616",
                "1000000000000000",
                "-9007199254740993",
                "99999999999999999999999999",
                "null",
                "true",
                "[]",
                "{}",
                "1_000",
                "1e-5",
                "\u0000",
                "锁");
        return random.nextInt(4) > 0
                ? known.get(random.nextInt(known.size()))
                : random.ints(random.nextInt(20), 0, 256)
                        .mapToObj(Character::toString)
                        .collect(Collectors.joining());
    }

    private static String damagedList(Random random, String good, long now) {
        List<String> parts = List.of(
                "\"b-1\"",
                "\"\"",
                "30000",
                "1",
                "0",
                "-5",
                "1.5",
                "1e999",
                "-1e999",
                "NaN",
                "Infinity",
                "null",
                "true",
                "\"30000\"",
                "\"x\"",
                "[]",
                "{}",
                "[[]]",
                "{\"1\":\"b-1\"}",
                Long.toString(now),
                "\"" + now + "\"",
                "0x10",
                "1e14");
        return switch (random.nextInt(10)) {
            case 0 -> "[" + good.substring(0, random.nextInt(good.length())) + "]";
            case 1 -> parts.get(random.nextInt(parts.size()));
            case 2 -> "[".repeat(1 + random.nextInt(2_000)) + "]".repeat(random.nextInt(2_000));
            case 3 -> "[" + good.substring(0, good.length() - 1) + ",0".repeat(random.nextInt(20_000)) + "]]";
            case 6 -> {
                List<String> words = new ArrayList<>(
                        List.of(good.substring(1, good.length() - 1).split(",")));
                words.set(random.nextInt(words.size()), pick(parts, random));
                yield "[[" + String.join(",", words) + "]]";
            }
            case 4 -> "{\"1\":" + good + "}";
            case 5 -> garbage(random);
            default ->
                IntStream.range(0, 1 + random.nextInt(3))
                        .mapToObj(waiter ->
                                "[" + pick(parts, random) + "," + pick(parts, random) + "," + pick(parts, random) + "]")
                        .collect(Collectors.joining(",", "[" + (random.nextBoolean() ? good + "," : ""), "]"));
        };
    }

    private static String pick(List<String> from, Random random) {
        return from.get(random.nextInt(from.size()));
    }

    private boolean isForeign() {
        return run(LuaScript.SHOW, KEY, "").get(2).toString().equals("0");
    }

    private void assertWhole(String as) {
        String text = (String) redis.command("GET", KEY);
        if (text == null) {
            return;
        }
        assertThat(redis.command("PTTL", KEY)).as(as).isNotEqualTo(-1L);
        assertThat(text).as(as).matches("(?s)\\[1,\"\\d{1,16}\"(,\\[\\[.*|,\\[],\"\\d+\")?]");
        if (!isForeign()) { // as it stays where only the text of a damaged queue was cut
            String plain = text.replace("1e+14", "100000000000000").replace(",-0", ",0");
            assertThat(StoredLock.of(plain).format()).as("%s, %s", text, as).isEqualTo(1);
        }
    }

    private static String shortened(String text) {
        return text.length() < 400 ? text : text.substring(0, 400) + "...";
    }

    private String dump() {
        String contents = "return redis.sha1hex(redis.call('DUMP', KEYS[1]) or '')";
        return redis.command("EVAL", contents, "1", KEY) + " " + ((Long) redis.command("PTTL", KEY) < 0);
    }

    private List<Object> acquire(String key, String id, boolean enqueue) {
        return run(LuaScript.ACQUIRE, key, id, 30_000, 0, enqueue ? 1 : 0);
    }

    private List<Object> unlock(String key, String id, long token, String next) {
        return next.isEmpty()
                ? run(LuaScript.UNLOCK, key, id, token)
                : run(LuaScript.UNLOCK, key, id, token, next, 30_000, 0);
    }

    private List<Object> renew(String key, String id, long token) {
        return run(LuaScript.RENEW, key, id, token, 30_000);
    }

    private List<Object> renewPermits(String id, long token, String other, long otherToken) {
        return run(LuaScript.RENEW, KEY, id, token, 30_000, other, otherToken, 30_000);
    }

    private List<Object> transfer(String key, String from, long token, String to) {
        return run(LuaScript.ACQUIRE, key, to, 7, 0, 0, from, token, 0);
    }

    private List<Object> downgrade(String key, String id, long token) {
        return run(LuaScript.ACQUIRE, key, id, 30_000, -1, 0, id, token, token);
    }

    private List<Object> keep(String key, String id, long token) {
        return run(LuaScript.UNLOCK, key, id, 0, "", 7, token);
    }

    private List<Object> run(LuaScript script, String key, Object... arguments) {
        List<String> words = new ArrayList<>(List.of("EVALSHA", script.getSha1(), "1", key));
        Arrays.stream(arguments).map(Object::toString).forEach(words::add);
        words.add(5, LockModel.settings(CHANNELS, 1_000));
        String number = new String(LuaScript.nextNumber(), StandardCharsets.US_ASCII);
        words.add(number);
        return Collections.unmodifiableList(ClockedScripts.words(number, redis.command(words.toArray(String[]::new))));
    }

    private static List<LuaScript> scripts() {
        return List.of(LuaScript.ACQUIRE, LuaScript.UNLOCK, LuaScript.RENEW, LuaScript.SHOW);
    }
}
