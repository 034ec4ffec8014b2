package io.github.lockboot.redis;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;

import io.github.lockboot.LockOptions;
import io.github.lockboot.engine.GrantChannel;
import io.github.lockboot.engine.PatientStore;
import io.github.lockboot.fixture.AclUser;
import io.github.lockboot.fixture.RedisBinary;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisSentinel;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.protocol.RedisProgram;
import io.github.lockboot.redis.protocol.ScriptStore;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.protocol.ProtocolVersion;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

class SelfCheckTests {

    private static final String RIGHTS = "~lock:* &lock:* +ping +eval +evalsha +time +get +set +del +pttl +pexpire"
            + " +publish +pubsub|numsub +subscribe +unsubscribe +client|tracking +client|caching";
    private static final String NO_ANNOUNCEMENTS = ", a loss is known at the next renewal";

    private static RedisServer server;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @AfterEach
    void restore() {
        server.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
    }

    // --- the server -------------------------------------------------------------------------------------------

    @Test
    void aPlainServerIsFitAndNothingOfTheCheckStays() {
        assertThat(check(at(server))).isEmpty();
        assertThat(server.command("DBSIZE")).isEqualTo(0L);
        assertThat(server.command("PUBSUB", "CHANNELS")).isEqualTo(List.of());
    }

    @Test
    void aRegistryIsDescribedOnOneLineAndWithTheVersionOnceItIsKnown() {
        try (TestRegistries registries = TestRegistries.on(server)) {
            RedisLockRegistry registry = registries.registry(builder -> builder.keyPrefix("app:lock:")
                    .defaults(LockOptions.defaults()
                            .withTtl(Duration.ofMillis(1_500))
                            .withoutRenewal()));
            String rest = "(standalone): key prefix 'app:lock:', ttl 1s500ms, not renewed, wait time 10s";
            assertThat(registry.describe()).isEqualTo("Redis " + rest);
            registry.check().join();
            assertThat(registry.describe())
                    .isEqualTo(server.product() + " " + rest + ", session "
                            + registry.inspector().session());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"allkeys-lru", "volatile-ttl"})
    void aPolicyThatEvictsLocksIsFound(String policy) {
        server.command("CONFIG", "SET", "maxmemory-policy", policy);
        assertThat(check(at(server)))
                .containsExactly(new Finding(
                        false,
                        "Redis has maxmemory-policy " + policy
                                + ", which evicts locks that are held once maxmemory is reached",
                        "set maxmemory-policy noeviction, or use a Redis for locks that is not a cache"));
    }

    @ParameterizedTest
    @CsvSource({"2.8.19, true", "6.0.16, true", "6.2.0, false", "7.0.15, false", "10.1, false", "unheard of, false"})
    void versionsBelowTheOldestTestedAreTooOld(String version, boolean tooOld) {
        assertThat(SelfCheck.isTooOld(version)).isEqualTo(tooOld);
    }

    @Test
    void aServerThatIsOutOfReachIsFound() {
        RedisServer gone = RedisServer.start();
        RedisConfiguration configuration = at(gone);
        gone.close();
        assertThat(check(configuration)).singleElement().satisfies(finding -> {
            assertThat(finding.problem())
                    .startsWith("Redis could not be checked (")
                    .contains("refused");
            assertThat(finding.action()).startsWith("check spring.data.redis.* and the network");
        });
    }

    @Test
    void aReadOnlyReplicaIsFound() {
        try (RedisServer replica = RedisServer.start("--replicaof", server.host(), String.valueOf(server.port()))) {
            assertThat(check(at(replica)))
                    .singleElement()
                    .satisfies(finding -> assertThat(finding.toString())
                            .startsWith("Redis rejected the lock scripts (")
                            .contains("READONLY ")
                            .contains("): use a master that accepts writes"));
        }
    }

    /** Valkey from 9.1 can be built without Lua: {@code testing/servers/run without-lua}. */
    @Test
    void aServerWithoutLuaIsFound() {
        String built = System.getenv("LOCK_SERVER_WITHOUT_LUA");
        String refusal = built != null ? "Could not find scripting engine" : "unknown command";
        try (RedisServer without = built != null
                ? RedisServer.builder()
                        .binary(RedisBinary.at(Path.of(built)).orElseThrow())
                        .start()
                : RedisProgram.EMBEDDED.start("--rename-command", "EVAL", "", "--rename-command", "EVALSHA", "")) {
            assertThat(check(at(without)))
                    .singleElement()
                    .satisfies(finding -> assertThat(finding.toString())
                            .startsWith("Redis rejected the lock scripts (")
                            .contains(refusal)
                            .contains(", a server with Lua, "));
        }
    }

    // --- what the user may do ---------------------------------------------------------------------------------

    @Test
    @Tag("this-build")
    void theRightsThatTheCheckAdvisesAreThoseThatLocksNeed() {
        assertThat(RIGHTS.split(" "))
                .containsAll(AclUser.COMMANDS)
                .containsAll(AclUser.TRACKING)
                .hasSize(2 + AclUser.COMMANDS.size() + AclUser.TRACKING.size());
    }

    @ParameterizedTest
    @CsvSource({"+client|tracking, false", "+client|caching, false", "+client, true"})
    void theDescriptionSaysWhetherTheUserMayTrackKeys(String allowed, boolean announced) {
        try (RedisServer restricted = RedisServer.start()) {
            allow(restricted, "+info", "-client", allowed);
            assertDescribed(asUser(restricted), LettuceClientConfiguration.defaultConfiguration(), announced);
        }
    }

    @ParameterizedTest
    @CsvSource({"RESP2, false", "RESP3, true"})
    void theDescriptionSaysWhetherTheProtocolHasAnnouncements(ProtocolVersion protocol, boolean announced) {
        ClientOptions options =
                ClientOptions.builder().protocolVersion(protocol).build();
        LettuceClientConfiguration client =
                LettuceClientConfiguration.builder().clientOptions(options).build();
        assertDescribed(at(server), client, announced);
    }

    private static void assertDescribed(
            RedisConfiguration redis, LettuceClientConfiguration client, boolean announced) {
        try (TestRegistries registries = TestRegistries.on(redis, client)) {
            RedisLockRegistry registry = registries.connected();
            assertThat(registry.describe()).doesNotContain(NO_ANNOUNCEMENTS);
            assertThat(registry.check().join()).isEmpty();
            assertThat(registry.describe().endsWith(NO_ANNOUNCEMENTS)).isEqualTo(!announced);
        }
    }

    @ParameterizedTest
    @EnumSource(RedisProgram.class)
    void aUserWhoMayDoWhatLocksNeedIsFit(RedisProgram program) {
        try (RedisServer restricted = program.start()) {
            allow(restricted, "+info");
            assertThat(check(asUser(restricted))).isEmpty();
            assertThat(restricted.command("DBSIZE")).isEqualTo(0L);
        }
    }

    @ParameterizedTest
    @EnumSource(RedisProgram.class)
    void everyRightThatTheScriptsMissIsFoundWithTheErrorOfRedis(RedisProgram program) {
        try (RedisServer restricted = program.start()) {
            for (String missing : "-eval -evalsha -time -get -set -del -pttl resetkeys".split(" ")) {
                allow(restricted, "+info", missing);
                assertThat(check(asUser(restricted)))
                        .as(missing)
                        .singleElement()
                        .satisfies(finding -> {
                            assertThat(finding.problem())
                                    .startsWith("Redis rejected the lock scripts (")
                                    .containsPattern("permission|can't (run|access|publish)");
                            assertThat(finding.action())
                                    .isEqualTo(
                                            "use a master that accepts writes, a server with Lua, and a user with these rights: "
                                                    + RIGHTS);
                        });
            }
        }
    }

    @Test
    void whatCouldNotBeCheckedIsNoFinding() {
        try (RedisServer restricted = RedisProgram.EMBEDDED.start()) {
            allow(restricted);
            assertThat(check(asUser(restricted))).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(RedisProgram.class)
    void aRefusalOfMessagesIsNotTakenForOneOfScripts(RedisProgram program) {
        try (RedisServer restricted = program.start()) {
            for (String missing : List.of("-publish", "-subscribe", "resetchannels")) {
                allow(restricted, "+info", missing);
                assertThat(check(asUser(restricted)))
                        .as(missing)
                        .singleElement()
                        .satisfies(finding -> {
                            assertThat(finding.problem())
                                    .contains("the channel lock:client:", ", so waiters only poll: ")
                                    .containsPattern("permission|can't (run|access|publish)");
                            assertThat(finding.action())
                                    .startsWith(
                                            "give the user these rights: &lock:* +publish +subscribe +unsubscribe; ");
                        });
            }
        }
    }

    @Test
    void aChannelWhoseConnectionFailedIsNoReasonToAdviseRights() {
        GrantChannel channel = new GrantChannel() {

            @Override
            public String problem() {
                return "Subscribing to the channel lock:client:a failed, so waiters only poll: Connection refused";
            }
        };
        try (TestRegistries registries = TestRegistries.on(server)) {
            StringRedisTemplate template = new StringRedisTemplate(registries.connectionFactory());
            Duration any = Duration.ofSeconds(1);
            SelfCheck check = new SelfCheck(
                    () -> template, PatientStore.on(mock(ScriptStore.Runner.class), any, any), "spring.data.redis");
            check.run(channel, null);
            assertThat(check.findings())
                    .singleElement()
                    .satisfies(finding -> assertThat(finding.action())
                            .startsWith("check spring.data.redis.* and the network; ")
                            .doesNotContain("rights"));
        }
    }

    // --- topologies and clients -------------------------------------------------------------------------------

    @Test
    void everyMasterOfAClusterIsChecked() {
        try (RedisCluster cluster = RedisCluster.start(0)) {
            RedisConfiguration configuration = new RedisClusterConfiguration(cluster.nodes());
            assertThat(check(configuration)).isEmpty();
            RedisServer third = cluster.servers().get(2);
            third.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
            assertThat(check(configuration))
                    .extracting(Finding::problem)
                    .containsExactly("Redis at " + third.address()
                            + " has maxmemory-policy allkeys-lru, which evicts locks that are held once maxmemory"
                            + " is reached");
        }
    }

    @Test
    void theMasterThatSentinelsNameIsChecked() {
        try (RedisSentinel sentinel = RedisSentinel.start(1)) {
            RedisConfiguration configuration =
                    new RedisSentinelConfiguration(sentinel.masterName(), Set.copyOf(sentinel.nodes()));
            assertThat(check(configuration)).isEmpty();
            sentinel.master().command("CONFIG", "SET", "maxmemory-policy", "volatile-lru");
            assertThat(check(configuration)).hasSize(1);
        }
    }

    @Test
    void aClientThatOnlyBlocksIsEnough() {
        try (TestRegistries registries = TestRegistries.on(at(server))) {
            RedisConnectionFactory plain = (RedisConnectionFactory) Proxy.newProxyInstance(
                    getClass().getClassLoader(),
                    new Class<?>[] {RedisConnectionFactory.class},
                    (proxy, method, args) -> {
                        try {
                            return method.invoke(registries.connectionFactory(), args);
                        } catch (InvocationTargetException failure) {
                            throw failure.getCause();
                        }
                    });
            try (RedisLockRegistry registry = RedisLockRegistry.builder(plain).build()) {
                assertThat(registry.check().join()).isEmpty();
                server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lfu");
                assertThat(registry.check().join()).hasSize(1);
                assertThat(registry.describe()).endsWith(NO_ANNOUNCEMENTS);
            }
        }
    }

    private static List<Finding> check(RedisConfiguration redis) {
        try (TestRegistries registries = TestRegistries.on(redis)) {
            return registries.registry().check().join();
        }
    }

    private static RedisConfiguration at(RedisServer server) {
        return new RedisStandaloneConfiguration(server.host(), server.port());
    }

    private static RedisConfiguration asUser(RedisServer server) {
        RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(server.host(), server.port());
        configuration.setUsername("app");
        configuration.setPassword("secret");
        return configuration;
    }

    private static void allow(RedisServer server, String... more) {
        server.command("ACL", "DELUSER", "app");
        server.command("ACL", "SETUSER", "app", "reset", "on", ">secret", "resetchannels");
        server.command(("ACL SETUSER app " + RIGHTS).split(" "));
        for (String rule : more) {
            server.command("ACL", "SETUSER", "app", rule);
        }
    }
}
