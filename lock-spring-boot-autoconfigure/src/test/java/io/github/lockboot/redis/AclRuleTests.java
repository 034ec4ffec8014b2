package io.github.lockboot.redis;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.Actor;
import io.github.lockboot.LogReader;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.AclUser;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/** The rule of {@link AclUser} is as short as it can be. */
class AclRuleTests {

    static final List<String> COMMANDS = AclUser.COMMANDS;

    private static final int MOST_TRIES = 20;

    private static RedisServer server;

    @BeforeAll
    static void start() {
        server = AclUser.addTo(RedisServer.builder(), AclUser.COMMANDS).start();
        try (TestRegistries registries = TestRegistries.on(asTheUser())) {
            RedisLockRegistry registry =
                    registries.registry(); // the first connection loads classes, which may take long
            Actor.await("connected", () -> FakedServer.canLock(registry));
        }
    }

    private static RedisStandaloneConfiguration asTheUser() {
        RedisStandaloneConfiguration redis = new RedisStandaloneConfiguration(server.host(), server.port());
        redis.setUsername(AclUser.NAME);
        redis.setPassword(AclUser.PASSWORD);
        return redis;
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void withTheWholeRuleNothingIsRefused() throws Exception {
        useLocks();
        assertThat(AclUser.refusals(server)).isEmpty();
    }

    @Test
    void whereLettuceMayIntroduceItselfNothingIsLoggedEither() throws Exception {
        server.command("ACL", "LOG", "RESET");
        try {
            server.command("ACL", "SETUSER", AclUser.NAME, "+" + AclUser.INTRODUCTION);
        } catch (RedisProbe.ErrorReply unknown) {
            assertThat(server.version())
                    .as("knows neither the command nor a rule for it")
                    .startsWith("7.0.");
        }
        useLocks();
        assertThat(AclUser.allRefusals(server)).isEmpty();
        server.command("ACL", "SETUSER", AclUser.NAME, "-client", "+client|tracking", "+client|caching");
    }

    @Test
    void aWarningNamesTheRightThatIsMissingForTheChannel() throws Exception {
        server.command("ACL", "SETUSER", AclUser.NAME, "resetchannels");
        try (TestRegistries registries = TestRegistries.on(asTheUser());
                LogReader log = new LogReader()) {
            registries.registry().connect();
            Actor.await(
                    "a warning",
                    () -> log.warnings().stream()
                            .anyMatch(line ->
                                    line.startsWith("Subscribing to the channel") && line.contains(": NOPERM ")));
        } finally {
            server.command("ACL", "SETUSER", AclUser.NAME, "&lock:*");
            server.command("ACL", "LOG", "RESET");
        }
    }

    @ParameterizedTest
    @FieldSource("COMMANDS")
    void withoutOneCommandItIsRefused(String allowed) throws Exception {
        String command = allowed.substring(1);
        String whole = command.replaceFirst("\\|.*", ""); // Redis 6.2 neither takes a subcommand away nor logs it
        server.command("ACL", "SETUSER", AclUser.NAME, "-" + whole);
        // Again, because the end of a connection may overtake its last commands.
        for (int i = 0; i < MOST_TRIES && !isRefusedAnything(); i++) {
            try {
                useLocks();
            } catch (RuntimeException | AssertionError refused) {
                // That some work without it, more slowly, is not the point here.
            }
            Actor.await("its connections are closed", () -> !isConnected());
        }
        List<String> refusals = AclUser.refusals(server);
        assertThat(server.command("PTTL", "lock:a"))
                .as("no lock without an end")
                .isNotEqualTo(-1L);
        server.command("ACL", "SETUSER", AclUser.NAME, "+" + command);
        server.command("ACL", "LOG", "RESET");
        assertThat(refusals)
                .isNotEmpty()
                .allMatch(refusal -> refusal.endsWith(" " + command) || refusal.endsWith(" " + whole));
    }

    private static boolean isConnected() {
        return String.valueOf(server.command("CLIENT", "LIST")).contains("user=" + AclUser.NAME + " ");
    }

    private static boolean isRefusedAnything() {
        return !AclUser.refusals(server).isEmpty();
    }

    /**
     * All that a lock can come to: it is free, taken, waited for, also without memory, handed over, given up, and a
     * stranger's.
     */
    private static void useLocks() throws Exception {
        server.command("SCRIPT", "FLUSH");
        server.command("FLUSHALL");
        server.command("SET", "lock:stranger", "1", "PX", "60000");
        try (TestRegistries registries = TestRegistries.on(asTheUser());
                Actor other = new Actor()) {
            NamedLock lock = registries.registry().get("a");
            RedisLockRegistry others = registries.registry();
            NamedLock elsewhere = others.get("a");
            assertThat(registries.registry().get("stranger").tryLock()).isFalse();
            lock.lock();
            assertThat(elsewhere.isLocked()).isTrue();
            server.command("CONFIG", "SET", "maxmemory", "1");
            assertThat(elsewhere.tryLock(50, TimeUnit.MILLISECONDS)).isFalse();
            server.command("CONFIG", "SET", "maxmemory", "0");
            var waiting = other.begin(elsewhere::lock);
            Actor.await(
                    "it queues, or was refused",
                    () -> StoredLock.at(server, "lock:a").isWaitedFor() || isRefusedAnything());
            Actor.await(
                    "the channel is live, or was refused", () -> GrantChannels.isLive(others) || isRefusedAnything());
            lock.unlock();
            Actor.get(waiting);
            other.run(elsewhere::unlock);
        } finally {
            server.command("CONFIG", "SET", "maxmemory", "0");
        }
    }
}
