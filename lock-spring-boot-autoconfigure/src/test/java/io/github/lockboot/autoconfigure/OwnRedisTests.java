package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.lockboot.Actor;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.fixture.AclUser;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisSentinel;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.RedisTls;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Locks on a Redis of their own, by {@code lock.redis.*} or by connection details. It names classes of Spring Boot 3.5;
 * the test of this name in {@code testing/matrix} runs on every line.
 */
@Tag("this-build")
@ExtendWith(OutputCaptureExtension.class)
class OwnRedisTests {

    private static final LockOptions ONCE = LockOptions.defaults().withWaitTime(Duration.ZERO);
    private static final String DATABASE = "3";

    private static RedisServer ofTheApplication;
    private static RedisServer ofLocks;

    private final Logger log = (Logger) LoggerFactory.getLogger("io.github.lockboot");

    private final ApplicationContextRunner withoutRedis = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, LockAutoConfiguration.class));

    private final ApplicationContextRunner withItsOwn = withoutRedis
            .withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class))
            .withPropertyValues(
                    "spring.data.redis.port=" + ofTheApplication.port(), "spring.data.redis.client-name=application");

    @BeforeAll
    static void start() {
        ofTheApplication = RedisServer.start();
        ofLocks = AclUser.addTo(RedisServer.builder(), List.of("+@all")).start();
    }

    @AfterAll
    static void stop() {
        ofTheApplication.close();
        ofLocks.close();
    }

    @BeforeEach
    void logTheStart() {
        log.setLevel(Level.INFO);
    }

    @AfterEach
    void logAsBefore() {
        log.setLevel(null);
    }

    @Test
    void keysOfLocksLieOnTheirServerAndThoseOfTheApplicationOnItsOwn() {
        withItsOwn.withPropertyValues("lock.redis.url=" + url()).run(context -> {
            StringRedisTemplate template = context.getBean(StringRedisTemplate.class);
            template.opsForValue().set("data", "application");
            try (Lease lease = context.getBean(LockRegistry.class).acquire("a", ONCE)) {
                assertThat(lease.isValid()).isTrue();
                assertThat(ofLocks.command("EVAL", script("lock:a"), "0")).isEqualTo(1L);
                assertThat(ofTheApplication.command("EXISTS", "lock:a")).isEqualTo(0L);
                assertThat(ofTheApplication.command("GET", "data")).isEqualTo("application");
                assertThat(ofLocks.command("EVAL", script("data"), "0")).isEqualTo(0L);
            }
        });
    }

    @Test
    void theConnectionFactoryAndTheTemplateOfTheApplicationStayTheOnlyOnes() {
        withItsOwn.withPropertyValues("lock.redis.url=" + url()).run(context -> {
            assertThat(context).hasSingleBean(RedisConnectionFactory.class);
            assertThat(context).hasSingleBean(StringRedisTemplate.class);
            assertThat(context.getBean(LettuceConnectionFactory.class).getPort())
                    .isEqualTo(ofTheApplication.port());
        });
    }

    @Test
    void anApplicationWithoutAConnectionFactoryHasLocks() {
        withoutRedis
                .withPropertyValues(
                        "lock.redis.host=" + ofLocks.host(),
                        "lock.redis.port=" + ofLocks.port(),
                        "lock.redis.username=" + AclUser.NAME,
                        "lock.redis.password=" + AclUser.PASSWORD,
                        "lock.redis.database=" + DATABASE)
                .run(context -> {
                    assertThat(context).doesNotHaveBean(RedisConnectionFactory.class);
                    try (Lease lease = context.getBean(LockRegistry.class).acquire("b", ONCE)) {
                        assertThat(lease.isValid()).isTrue();
                        assertThat(ofLocks.command("EVAL", script("lock:b"), "0"))
                                .isEqualTo(1L);
                    }
                });
    }

    @Test
    void connectionsHaveTheClientNameAndEndWithTheApplication() {
        withItsOwn
                .withPropertyValues("lock.redis.url=" + url(), "lock.redis.client-name=shop")
                .run(context -> {
                    RedisLockRegistry registry = context.getBean(RedisLockRegistry.class);
                    registry.connect().join();
                    String session = registry.inspector().session();
                    assertThat(clients()).contains(" name=shop-lock-" + session + " ");
                    assertThat(clients()).doesNotContain("name=application");
                });
        Actor.await("the connections have ended", () -> !clients().contains("name=shop-"));
    }

    /** As in a container, whose environment has no other way to spell them. */
    @Test
    void environmentVariablesConfigureIt() {
        Map<String, Object> variables = Map.of("LOCK_REDIS_URL", url(), "LOCK_REDIS_CLIENTNAME", "variable");
        withItsOwn
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addLast(new SystemEnvironmentPropertySource("test-systemEnvironment", variables)))
                .run(context -> {
                    context.getBean(RedisLockRegistry.class).connect().join();
                    assertThat(clients()).contains(" name=variable-lock-");
                });
    }

    @Test
    void connectionDetailsThatAreQualifiedForLocksAreUsed() {
        withItsOwn
                .withUserConfiguration(QualifiedDetails.class)
                .withPropertyValues("lock.redis.host=not-used.invalid", "lock.redis.client-name=details")
                .run(context -> {
                    assertThat(context.getBean(LettuceConnectionFactory.class).getPort())
                            .isEqualTo(ofTheApplication.port());
                    try (Lease lease = context.getBean(LockRegistry.class).acquire("d", ONCE)) {
                        assertThat(lease.isValid()).isTrue();
                        assertThat(ofLocks.command("EVAL", script("lock:d"), "0"))
                                .isEqualTo(1L);
                        assertThat(clients()).contains(" name=details-lock-");
                    }
                });
    }

    @Test
    void theStartLineSaysThatLocksHaveTheirOwnAndNoLogHasThePassword(CapturedOutput output) {
        withItsOwn
                .withBean(Locked.class)
                .withPropertyValues("lock.redis.url=" + url())
                .run(context -> {
                    Actor.await("the line", () -> output.getAll().contains("Distributed locks on"));
                    assertThat(output).contains(" (standalone, by lock.redis.*): key prefix 'lock:'");
                    assertThat(output).doesNotContain(AclUser.PASSWORD);
                });
    }

    @Test
    void theSelfCheckNamesTheProperties(CapturedOutput output) {
        withItsOwn
                .withBean(Locked.class)
                .withPropertyValues("lock.redis.url=" + url().replace(":" + AclUser.PASSWORD, ":wrong-word"))
                .run(context -> {
                    Actor.await("the finding", () -> output.getAll().contains("check lock.redis.* and the network"));
                    assertThat(output).doesNotContain("spring.data.redis").doesNotContain("wrong-word");
                });
    }

    @Test
    @Tag("full")
    void sentinelsAreAskedForTheMasterOfLocks() {
        try (RedisSentinel sentinel = RedisSentinel.start(
                1, server -> server.args("--requirepass", AclUser.PASSWORD, "--masterauth", AclUser.PASSWORD))) {
            withItsOwn
                    .withPropertyValues(
                            "lock.redis.sentinel.master=" + sentinel.masterName(),
                            "lock.redis.sentinel.nodes=" + String.join(",", sentinel.nodes()),
                            "lock.redis.password=" + AclUser.PASSWORD)
                    .run(context -> assertLocks(context.getBean(RedisLockRegistry.class), "sentinel"));
        }
    }

    @Test
    @Tag("full")
    void locksLieOnTheirCluster() {
        try (RedisCluster cluster = RedisCluster.start()) {
            withItsOwn
                    .withPropertyValues(
                            "lock.redis.cluster.nodes[0]=" + cluster.nodes().get(0),
                            "lock.redis.cluster.nodes[1]=" + cluster.nodes().get(1))
                    .run(context -> assertLocks(context.getBean(RedisLockRegistry.class), "cluster"));
        }
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void theSslBundleIsThatOfTheApplication(boolean byUrl) {
        try (RedisTls tls = RedisTls.create();
                RedisServer server = RedisServer.builder().tls(tls).start()) {
            withItsOwn
                    .withPropertyValues(
                            "spring.ssl.bundle.pem.locks.truststore.certificate="
                                    + tls.authority().toUri(),
                            "lock.redis.ssl.bundle=locks")
                    .withPropertyValues(
                            byUrl
                                    ? new String[] {"lock.redis.url=rediss://localhost:" + server.tlsPort()}
                                    : new String[] {"lock.redis.host=localhost", "lock.redis.port=" + server.tlsPort()})
                    .run(context -> assertLocks(context.getBean(RedisLockRegistry.class), "standalone"));
        }
    }

    private static void assertLocks(RedisLockRegistry registry, String topology) throws InterruptedException {
        try (Lease lease = registry.acquire("c", LockOptions.defaults())) {
            assertThat(lease.isValid()).isTrue();
            assertThat(registry.describe()).contains("(" + topology + ", by lock.redis.*)");
            assertThat(ofTheApplication.command("EXISTS", "lock:c")).isEqualTo(0L);
        }
    }

    // --- what is refused --------------------------------------------------------------------------------------

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "lock.redis.url=redis://a:1 lock.redis.sentinel.nodes=a:1 | lock.redis.url and lock.redis.sentinel.nodes are both set",
                "lock.redis.url=redis://a:1 lock.redis.cluster.nodes=a:1 | lock.redis.url and lock.redis.cluster.nodes are both set",
                "lock.redis.url=redis://a:1 lock.redis.password=secret | lock.redis.url and lock.redis.password are both set",
                "lock.redis.host=a lock.redis.cluster.nodes=a:1 | lock.redis.cluster.nodes and lock.redis.host are both set",
                "lock.redis.sentinel.master=m lock.redis.cluster.nodes=a:1 | lock.redis.sentinel.nodes and lock.redis.cluster.nodes are both set",
                "lock.redis.database=1 | lock.redis.database is set, but no address",
                "lock.redis.url=http://user:secret@a:1 | lock.redis.url is not the URL of a server",
                "lock.redis.url=redis://user:se#cret@a:1 | lock.redis.url is not the URL of a server",
                "lock.redis.url=redis://user:se%zcret@a:1 | lock.redis.url is not the URL of a server",
                "lock.redis.url=redis://a | lock.redis.url is not the URL of a server",
                "lock.redis.url=redis://a:1/x | lock.redis.url is not the URL of a server",
                "lock.redis.sentinel.nodes=a:1 | lock.redis.sentinel.nodes needs lock.redis.sentinel.master",
                "lock.redis.sentinel.master=m | lock.redis.sentinel.nodes is []",
                "lock.redis.sentinel.master=m lock.redis.sentinel.nodes=a:1,b | lock.redis.sentinel.nodes is [a:1, b]",
                "lock.redis.cluster.nodes=a | lock.redis.cluster.nodes is [a]",
                "lock.redis.host=a lock.redis.ssl.bundle=none | lock.redis.ssl.bundle is none of the SSL bundles []",
                "lock.redis.host=a lock.redis.database=-1 | made by lock.redis.* (",
            })
    void whatCannotBeMeantIsRefusedByItsName(String properties, String problem, CapturedOutput output) {
        withItsOwn.withPropertyValues(properties.split(" ")).run(context -> {
            assertThat(context).hasFailed();
            assertThat(analysisOf(context.getStartupFailure()).getDescription()).contains(problem);
            assertThat(context.getStartupFailure()).hasStackTraceContaining(problem);
            assertThat(output).doesNotContain("cret");
        });
    }

    @Test
    void aFactoryThatIsQualifiedForLocksIsRefusedBesideTheProperties() {
        withItsOwn
                .withUserConfiguration(QualifiedFactory.class)
                .withPropertyValues("lock.redis.url=" + url())
                .run(context -> {
                    FailureAnalysis analysis = analysisOf(context.getStartupFailure());
                    assertThat(analysis.getDescription())
                            .contains("a server of their own and a RedisConnectionFactory bean");
                    assertThat(analysis.getAction()).contains("Remove that bean, or lock.redis.*");
                });
    }

    @Test
    void withoutLettuceItIsRefused() {
        withoutRedis
                .withClassLoader(new FilteredClassLoader("io.lettuce"))
                .withPropertyValues("lock.redis.url=" + url())
                .run(context -> assertThat(
                                analysisOf(context.getStartupFailure()).getDescription())
                        .contains("lock.redis.* needs Lettuce"));
    }

    @Test
    void withLocksInMemoryItIsNotRead() {
        withItsOwn
                .withPropertyValues("lock.type=memory", "lock.redis.url=nothing")
                .run(context -> assertThat(context).hasNotFailed());
    }

    private static FailureAnalysis analysisOf(Throwable failure) {
        return new LockFailureAnalyzer().analyze(failure);
    }

    private static String url() {
        return "redis://" + AclUser.NAME + ":" + AclUser.PASSWORD + "@" + ofLocks.host() + ":" + ofLocks.port() + "/"
                + DATABASE;
    }

    /** Whether there is a key in the database of locks; the connection of the fixture is in the first. */
    private static String script(String key) {
        return "redis.call('SELECT', " + DATABASE + ") return redis.call('EXISTS', '" + key + "')";
    }

    private static String clients() {
        return String.valueOf(ofLocks.command("CLIENT", "LIST"));
    }

    static class Locked {
        @DistributedLock(name = "locked")
        void run() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class QualifiedFactory {

        @Bean(defaultCandidate = false)
        @Qualifier("distributedLock")
        LettuceConnectionFactory lockRedis() {
            return new LettuceConnectionFactory(ofLocks.host(), ofLocks.port());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class QualifiedDetails {

        @Bean(defaultCandidate = false)
        @Qualifier("distributedLock")
        RedisConnectionDetails lockRedis() {
            return new RedisConnectionDetails() {
                @Override
                public String getUsername() {
                    return AclUser.NAME;
                }

                @Override
                public String getPassword() {
                    return AclUser.PASSWORD;
                }

                @Override
                public Standalone getStandalone() {
                    return Standalone.of(ofLocks.host(), ofLocks.port(), Integer.parseInt(DATABASE));
                }
            };
        }
    }
}
