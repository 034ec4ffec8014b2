package io.github.lockboot.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.Fuzz;
import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.LogReader;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.AclUser;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import io.github.lockboot.internal.LockNames;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whatever stands in names, in messages on our channels and under our keys: nothing but the documented comes of it, on
 * a real server on which we are a user that may touch the keys and channels under the prefix and no others.
 */
class HostileRedisTests {

    private static final String PREFIX = "lock:";
    private static final long LAST_TOKEN = (1L << 53) - 65_536; // beyond it a key counts as a stranger's
    private static final Duration WAIT = Duration.ofMinutes(1);

    private static RedisServer server;

    private RedisProbe redis;
    private TestRegistries registries;
    private LogReader log;
    private String foreign;

    @BeforeAll
    static void startServer() {
        server = AclUser.addTo(RedisServer.builder(), AclUser.COMMANDS).start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void start() {
        redis = server.probe();
        redis.command("FLUSHALL");
        redis.command("ACL", "LOG", "RESET");
        addForeignKeys();
        foreign = foreignKeys();
        RedisStandaloneConfiguration user = new RedisStandaloneConfiguration(server.host(), server.port());
        user.setUsername(AclUser.NAME);
        user.setPassword(AclUser.PASSWORD);
        registries = TestRegistries.on(user);
        log = new LogReader();
    }

    @AfterEach
    void nothingForeignWasTouchedAndNoLineForged() {
        registries.close();
        log.close();
        assertThat(foreignKeys()).isEqualTo(foreign);
        assertThat(AclUser.refusals(server)).as("what was refused to us").isEmpty();
        assertThat(log.errors()).isEmpty();
        assertThat(log.messages()).allMatch(Fuzz::isOneHonestLine);
        redis.close();
    }

    /** Of every type, under names as near to ours as they can be. */
    private void addForeignKeys() {
        for (String key : List.of("lock", "lock;", "Lock:a", "locks:a", " lock:a", "client:1", "flights", "a", "")) {
            redis.command("SET", "string" + key, "x");
            redis.command("SET", key, "x", "PX", "86400000");
            redis.command("HSET", "hash" + key, "owner", "a-1", "fence", "1");
            redis.command("RPUSH", "list" + key, "x");
        }
    }

    private String foreignKeys() {
        return String.valueOf(redis.command("EVAL", """
                local keys = redis.call('KEYS', '*')
                table.sort(keys)
                local found = {}
                for _, key in ipairs(keys) do
                  if string.sub(key, 1, 5) ~= 'lock:' then
                    found[#found + 1] = redis.sha1hex(key .. redis.call('DUMP', key)) .. (redis.call('PTTL', key) > 0 and 1 or 0)
                  end
                end
                return table.concat(found)""", "0"));
    }

    private boolean exists(String key) {
        return Objects.equals(redis.command("EXISTS", key), 1L);
    }

    private static void require(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    // --- names ------------------------------------------------------------------------------------------------

    @Test
    void aNameOfAnyCharactersIsALockUnderItsOwnKey() {
        RedisLockRegistry registry = registries.registry(builder -> builder.logKeys(true));
        AtomicInteger refused = new AtomicInteger();
        Fuzz.times(10_000, "names on Redis", fuzz -> {
            String name = fuzz.below(50) == 0 ? fuzz.text(300) : fuzz.text(5);
            try {
                NamedLock lock = registry.get(name);
                require(lock.tryLock(), "free");
                require(exists(PREFIX + name), "its key is there");
                require(lock.isLocked(), "locked");
                lock.unlock();
                require(!exists(PREFIX + name), "its key is gone");
            } catch (IllegalArgumentException illegal) {
                refused.incrementAndGet();
                require(Fuzz.isOneHonestLine(String.valueOf(illegal.getMessage())), "forges a line");
            }
        });
        Figures.report("fuzz: names refused: %d", refused.get());
        assertThat(registry.inspector().inUse()).isZero();
    }

    @Test
    void aKeyPrefixOfAnyCharactersServesItsWaiters() throws Exception {
        for (String rest :
                List.of(" ", "a b:", "{x}:", "{", "*", "?[a]", "\r\n", "锁🧧:", "client:", "\\", "%s", "\"'")) {
            TestRegistries both = registries;
            RedisLockRegistry one = both.registry(builder -> builder.keyPrefix(PREFIX + rest));
            RedisLockRegistry other = both.registry(builder -> builder.keyPrefix(PREFIX + rest));
            Lease held = one.acquire("x", LockOptions.defaults());
            CompletableFuture<Lease> waiting =
                    other.acquireAsync("x", LockOptions.defaults().withWaitTime(WAIT));
            Actor.await(
                    "queued", () -> StoredLock.at(redis, PREFIX + rest + "x").isWaitedFor());
            held.close();
            Actor.get(waiting).close();
            assertThat(exists(PREFIX + rest + "x")).isFalse();
            one.close();
            other.close();
        }
    }

    // --- what lies under a key --------------------------------------------------------------------------------

    @Test
    void whateverLiesUnderAKeyIsAnAnswerOrAStrangers() {
        RedisLockRegistry registry = registries.registry(builder -> builder.logKeys(true));
        Fuzz.times(8_000, "values on Redis", fuzz -> {
            String name = fuzz.oneOf("x", "y", "a b", "锁");
            String key = PREFIX + name;
            redis.command("DEL", key);
            boolean maybeOurs = put(fuzz, key);
            String before = maybeOurs ? "" : String.valueOf(redis.command("EVAL", DIGEST, "1", key));
            use(fuzz, registry.get(name), registry.inspector());
            if (!maybeOurs) {
                require(before.equals(redis.command("EVAL", DIGEST, "1", key)), "a stranger's value has changed");
            }
            redis.command("DEL", key);
        });
        Actor.await("nothing in use", () -> registry.inspector().inUse() == 0);
    }

    private static final String DIGEST = "return redis.sha1hex(redis.call('DUMP', KEYS[1]) or '')";

    /** @return whether it may be ours */
    private boolean put(Fuzz fuzz, String key) {
        switch (fuzz.below(13)) {
            case 0 -> redis.command("SET", key, fuzz.text(5));
            case 1 -> redis.command("SET", key, fuzz.text(5), "PX", "60000");
            case 2 -> redis.command("RPUSH", key, fuzz.text(5));
            case 3 -> redis.command("SADD", key, fuzz.text(5));
            case 4 -> redis.command("ZADD", key, "1", fuzz.text(5));
            case 5 -> redis.command("XADD", key, "*", "f" + fuzz.text(5), fuzz.text(5));
            case 6 -> redis.command("HSET", key, "v", "1", "owner", "s-1", "fence", "7");
            default -> {
                long now = System.currentTimeMillis();
                List<String> parts = new ArrayList<>();
                add(parts, fuzz, fuzz.oneOf("1", "1", "1", "2", fuzz.text(2)));
                add(parts, fuzz, text(fuzz, fuzz.oneOf("7", "0", "9007199254675455", "9e15", "1.5")));
                add(parts, fuzz, "[" + holder(fuzz, now) + "]");
                add(parts, fuzz, text(fuzz, fuzz.oneOf("", "", "7", "8")));
                add(parts, fuzz, fuzz.oneOf("" + now, "" + (now - 5_000), "0", fuzz.text(2)));
                add(parts, fuzz, fuzz.oneOf("" + now, "0", fuzz.text(2)));
                add(parts, fuzz, queue(fuzz, now));
                if (fuzz.below(4) == 0) {
                    parts.add(fuzz.text(2));
                }
                int end = fuzz.below(3) == 0 ? fuzz.below(parts.size() + 1) : parts.size();
                redis.command("SET", key, "[" + String.join(",", parts.subList(0, end)) + "]");
                return true;
            }
        }
        return false;
    }

    private static void add(List<String> parts, Fuzz fuzz, String part) {
        if (fuzz.below(10) > 0) {
            parts.add(part);
        }
    }

    private static String text(Fuzz fuzz, String usual) {
        return "\"" + (fuzz.below(5) == 0 ? fuzz.text(2) : usual) + "\"";
    }

    private static String holder(Fuzz fuzz, long now) {
        String id = fuzz.oneOf(fuzz.text(4), "s-1", "s-1 9 9 9 lock:y", "-", "s", "s-1\\r\\nOWNER 1 2 3");
        String holder = "[\"" + id + "\"," + fuzz.oneOf("30000", "1", fuzz.text(2), "1e14") + ","
                + fuzz.oneOf("" + (now + 5_000), "1", fuzz.text(2), "1999999999999999") + ","
                + fuzz.oneOf("0", "0", "0", "-1", "2", "-1,\"7\"", "2,\"7\"", fuzz.text(2)) + "]";
        return fuzz.below(6) == 0 ? fuzz.mutated(holder) : holder;
    }

    private static String queue(Fuzz fuzz, long now) {
        String id = fuzz.oneOf("s-1", "s-1 9 9 9 lock:y", "a\\r\\nb-1", "", "-", "s", "\\u0000-1", "锁-1");
        String queue = "[[\"" + id + "\"," + fuzz.oneOf("30000", "1", "-1", "1e14", "\"x\"", "null") + ","
                + fuzz.oneOf("" + now, "0", "1e15", "{}") + "]]";
        return fuzz.below(3) == 0 ? fuzz.mutated(queue) : queue;
    }

    /** What comes out is an answer or a documented exception. */
    private static void use(Fuzz fuzz, NamedLock lock, RedisLockInspector inspector) {
        try {
            switch (fuzz.below(5)) {
                case 0 -> lock.isLocked();
                case 1 -> inspector.forceRelease(lock.getName(), fuzz.oneOf("s-1", "-", "s", ""));
                case 2 -> require(!inspector.stateOf(lock.getName()).isEmpty(), "it is there");
                default -> {
                    if (lock.tryLock()) {
                        require(lock.isHeldByCurrentThread() && lock.fencingToken() > 0, "held");
                        lock.unlock();
                    }
                }
            }
        } catch (LockLostException lost) {
            require(lost.getFencingToken() >= LAST_TOKEN, "no tokens are left under that key");
        } catch (LockUnavailableException unavailable) {
            throw new AssertionError("Redis answered, and well", unavailable);
        }
    }

    // --- messages ---------------------------------------------------------------------------------------------

    @Test
    void whoCanOnlyPublishAndListChannelsGivesTakesAndEndsNoLock() throws Exception {
        RedisLockRegistry victim = registries.registry();
        RedisLockRegistry other = registries.registry();
        Lease held = other.acquire("x", LockOptions.defaults());
        Lease kept = victim.acquire("y", LockOptions.defaults());
        CompletableFuture<Lease> waiting =
                victim.acquireAsync("x", LockOptions.defaults().withWaitTime(WAIT));
        Actor.await("queued", () -> StoredLock.at(redis, "lock:x").isWaitedFor());
        Actor.await("listening", () -> !channels().isEmpty());
        String channel = String.valueOf(channels().get(0));
        String session = channel.substring("lock:client:".length());
        long token = kept.fencingToken();
        Fuzz.times(20_000, "messages on Redis", fuzz -> {
            String id = session + fuzz.oneOf("-" + fuzz.below(20), "-" + fuzz.below(20) + "." + fuzz.text(1), "-", "");
            String message = fuzz.below(10) == 0
                    ? fuzz.text(20)
                    : id + " " + fuzz.oneOf("0", "1", "" + (token + fuzz.below(1_000_000)), "9007199254740991") + " "
                            + fuzz.oneOf("0", "5999", "30000", "999999999999") + " " + fuzz.below(3) + " "
                            + fuzz.oneOf("0", "1", "" + token, "9007199254740991") + " "
                            + fuzz.oneOf("lock:x", "lock:y", "lock:z", "a", "", "lock:" + fuzz.text(1));
            redis.command("PUBLISH", fuzz.oneOf(channel, channel, "lock:flights:0"), message);
            require(!waiting.isDone() && kept.isValid() && held.isValid(), "believed " + LockNames.printable(message));
        });
        held.close();
        Lease served = Actor.get(waiting);
        assertThat(served.isValid()).isTrue();
        served.close();
        kept.close();
        Actor.await("nothing in use", () -> victim.inspector().inUse() == 0);
        assertThat(exists("lock:x") || exists("lock:y") || exists("lock:z")).isFalse();
    }

    @Test
    void whoReadsAllMessagesDoesNotSeeTheIdOfAWaiterBeforeItsGrant() throws Exception {
        RedisLockRegistry victim = registries.registry();
        RedisLockRegistry other = registries.registry();
        StringBuilder seen = new StringBuilder();
        try (RedisProbe eavesdropper = server.probe()) {
            eavesdropper.command("PSUBSCRIBE", "lock:*");
            Lease held = other.acquire("x", LockOptions.defaults());
            for (int i = 0; i < 100; i++) {
                RedisLockRegistry next = i % 2 == 0 ? victim : other;
                CompletableFuture<Lease> waiting =
                        next.acquireAsync("x", LockOptions.defaults().withWaitTime(WAIT));
                Actor.await("queued", () -> StoredLock.at(redis, "lock:x").isWaitedFor());
                String id = StoredLock.at(redis, "lock:x").queue().get(0).id();
                assertThat(id).matches("[0-9a-f]{32}-[0-9]+\\.[0-9a-f]{16}");
                redis.command("PUBLISH", "lock:until here", "");
                for (Object message = ""; !String.valueOf(message).contains("lock:until here"); ) {
                    message = eavesdropper.command("PING"); // whatever comes next
                    seen.append(message);
                }
                assertThat(seen.indexOf(id)).isNegative();
                held.close();
                held = Actor.get(waiting);
            }
            held.close();
        }
        assertThat(seen.toString()).as("it does read them").contains("lock:x");
    }

    private List<?> channels() {
        return (List<?>) Objects.requireNonNull(redis.command("PUBSUB", "CHANNELS", "lock:client:*"));
    }

    @Test
    void aForgedAnnouncementCostsALookAndNoMore() throws Exception {
        RedisLockRegistry leading = registries.registry();
        RedisLockRegistry following = registries.registry();
        AtomicInteger looks = new AtomicInteger();
        try (Lease lead = leading.acquire("x", LockOptions.defaults())) {
            CompletableFuture<String> follower = new LockTemplate(following, WAIT)
                    .singleFlightAsync(
                            "x",
                            () -> {
                                looks.incrementAndGet();
                                return CompletableFuture.completedFuture(null);
                            },
                            () -> {
                                throw new AssertionError("another has the lock");
                            });
            Actor.await("it looks again and again", () -> {
                redis.command("PUBLISH", "lock:flights:0", "x");
                return looks.get() > 20;
            });
            assertThat(follower).isNotDone();
            assertThat(lead.isValid()).isTrue();
            follower.cancel(false);
        }
        Actor.await(
                "nothing in use",
                () -> leading.inspector().inUse() + following.inspector().inUse() == 0);
        Actor.await("no key is left", () -> !exists("lock:x"));
    }
}
