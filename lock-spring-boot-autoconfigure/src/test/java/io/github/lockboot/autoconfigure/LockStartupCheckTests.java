package io.github.lockboot.autoconfigure;

import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.lockboot.Actor;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.SlowStart;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.internal.Troubleshooting;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class LockStartupCheckTests {

    private static final String EVICTS =
            "Redis has maxmemory-policy allkeys-lru, which evicts locks that are held once" + " maxmemory is reached";

    private final Logger log = (Logger) LoggerFactory.getLogger("io.github.lockboot");
    private RedisServer server;
    private ApplicationContextRunner runner;

    @BeforeEach
    void start() {
        log.setLevel(Level.INFO);
        server = RedisServer.start("--maxmemory-policy", "allkeys-lru");
        runner = new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
                .withBean(Locked.class)
                .withBean(
                        LettuceConnectionFactory.class,
                        () -> new LettuceConnectionFactory(server.host(), server.port()));
    }

    @AfterEach
    void stop() {
        log.setLevel(null);
        server.close();
    }

    static class Locked {
        @DistributedLock(name = "locked")
        void run() {}
    }

    @Test
    void byDefaultWhatIsWrongIsInTheLogSoonAfterTheStart(CapturedOutput output) {
        runner.run(context -> {
            assertThat(context).hasNotFailed();
            Actor.await("the warning", () -> output.getAll().contains(EVICTS + ": set maxmemory-policy noeviction"));
            assertThat(output).containsPattern("WARN.*" + EVICTS);
        });
    }

    /** All an operator asks first; without the check it has no version. */
    @ParameterizedTest
    @ValueSource(strings = {"warn", "fail", "off"})
    void theStartIsOneLine(String check, CapturedOutput output) {
        server.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
        String product = check.equals("off") ? "Redis" : server.product();
        String line = "Distributed locks on " + product + " (standalone): key prefix 'lock:', ttl 30s, renewed,"
                + " wait time 10s";
        runner.withPropertyValues("lock.startup-check=" + check).run(context -> {
            Actor.await("the line", () -> output.getAll().contains(line));
            assertThat(output.getAll().lines().filter(each -> each.contains("Distributed locks")))
                    .singleElement()
                    .asString()
                    .contains("INFO")
                    .endsWith(line + ", session "
                            + context.getBean(RedisLockRegistry.class)
                                    .inspector()
                                    .session());
        });
    }

    @Test
    void anApplicationThatConnectsAtItsFirstLockIsNotChecked(CapturedOutput output) {
        runner.withPropertyValues("lock.redis.connect-at-startup=false").run(context -> {
            assertThat(output.getAll().lines().filter(each -> each.contains("LockStartup")))
                    .singleElement()
                    .asString()
                    .contains("INFO")
                    .endsWith(
                            "Distributed locks on Redis (standalone): key prefix 'lock:', ttl 30s, renewed, wait time 10s");
        });
    }

    /**
     * Such a thread keeps the class loader, and with it all classes of an application that a container has replaced.
     */
    @Test
    void theCheckLeavesNoThreadWithTheClassLoaderOfTheApplicationBehind(CapturedOutput output) {
        ClassLoader application = new URLClassLoader(new URL[0], getClass().getClassLoader());
        runner.withClassLoader(application)
                .run(context -> Actor.await("the check", () -> output.getAll().contains(EVICTS)));
        Actor.await(
                "its threads end",
                () -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getContextClassLoader() == application));
    }

    @Test
    void aLazyRegistryIsCheckedToo(CapturedOutput output) {
        runner.withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
                .run(context -> Actor.await(
                        "the line", () -> output.getAll().contains("Distributed locks on " + server.product() + " (")));
    }

    @Test
    void byDefaultARedisThatIsDownIsNoReasonNotToStart(CapturedOutput output) {
        server.kill();
        runner.run(context -> {
            assertThat(context).hasNotFailed();
            Actor.await("the warning", () -> output.getAll().contains("Redis could not be checked ("));
        });
    }

    @Test
    void withAcknowledgementsARedisThatIsDownIsNoReasonNotToStartEither() {
        server.kill();
        runner.withPropertyValues("lock.redis.acknowledge=all", "lock.redis.command-timeout=500ms")
                .run(context -> assertThat(context).hasNotFailed());
    }

    /** Before 7.2 it does not know the command, and later it has no such file. */
    @Test
    void aRedisThatCannotAcknowledgeEndsTheStart() {
        runner.withPropertyValues("lock.redis.acknowledge=aof").run(context -> {
            FailureAnalysis analysis = new LockFailureAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis.getDescription())
                    .startsWith(
                            "Redis does not acknowledge grants as lock.redis.acknowledge requires (Redis rejected the request for acknowledgement: ERR ");
            assertThat(analysis.getAction()).contains("remove lock.redis.acknowledge");
        });
    }

    @Test
    void aRedisWithoutReplicasDoesNotEndTheStart(CapturedOutput output) {
        runner.withPropertyValues("lock.redis.acknowledge=all", "lock.redis.command-timeout=10s")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    Actor.await(
                            "the warning", () -> output.getAll().contains("0 of 1 replicas acknowledged it in time"));
                });
    }

    /** A Redis that accepts connections and never answers. */
    @Test
    void byDefaultTheStartDoesNotWaitForARedisThatHangsAndTheReportComesLater(CapturedOutput output) {
        server.pause();
        runner.withPropertyValues("lock.redis.command-timeout=20s").run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(output).doesNotContain("Distributed locks");
            server.resume();
            Actor.await("the warning", () -> output.getAll().contains(EVICTS));
        });
    }

    @Test
    void failEndsTheStartWithEveryFindingAndItsAction() {
        runner.withPropertyValues("lock.startup-check=fail").run(context -> {
            FailureAnalysis analysis = new LockFailureAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis.getDescription())
                    .isEqualTo("Locks are not reliable here (lock.startup-check=fail):\n\n" + "  - " + EVICTS);
            assertThat(analysis.getAction())
                    .isEqualTo("Fix the following:\n\n"
                            + "  - set maxmemory-policy noeviction, or use a Redis for locks that is not a cache\n\n"
                            + "Or set lock.startup-check=warn.\n\nSee " + Troubleshooting.PAGE
                            + "the-self-check-found-something");
        });
    }

    @Test
    void failIsContentWithAFitRedis(CapturedOutput output) {
        server.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
        runner.withPropertyValues("lock.startup-check=fail")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output.getAll().lines().filter(each -> each.contains("LockStartup")))
                .noneMatch(each -> each.contains("WARN"));
    }

    @Test
    void failEndsTheStartWhenRedisIsDown() {
        server.kill();
        runner.withPropertyValues("lock.startup-check=fail")
                .run(context ->
                        assertThat(context).getFailure().hasStackTraceContaining("Redis could not be checked ("));
    }

    @Test
    void failEndsNoStartThatIsSlow(CapturedOutput output) {
        server.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
        try (TcpProxy proxy = TcpProxy.to(server)) {
            SlowStart.delay(proxy);
            new ApplicationContextRunner()
                    .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
                    .withPropertyValues("lock.startup-check=fail")
                    .withBean(
                            LettuceConnectionFactory.class,
                            () -> new LettuceConnectionFactory(proxy.host(), proxy.port()))
                    .run(context -> assertThat(context).hasNotFailed());
        }
        assertThat(output).contains("Distributed locks on " + server.product());
    }

    @Test
    void whatIsWrongWithARedisThatWasDownAtTheStartIsInTheLogLater(CapturedOutput output) {
        server.kill();
        runner.run(context -> {
            Actor.await("the warning", () -> output.getAll().contains("Redis could not be checked ("));
            server.restart();
            Actor.await("the other warning", () -> output.getAll().contains(EVICTS));
        });
    }

    /** What merely could not be checked ends no start. */
    @Test
    void failOnlyWarnsOfWhatItCouldNotCheck(CapturedOutput output) {
        server.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
        server.command("ACL", "SETUSER", "default", "-info");
        runner.withPropertyValues("lock.startup-check=fail")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output).containsPattern("WARN.*Redis does not show its version");
    }

    /** YAML reads off as false. */
    @ParameterizedTest
    @ValueSource(strings = {"off", "OFF", "false"})
    void offOpensNoConnectionBeforeTheFirstLock(String off) {
        runner.withPropertyValues("lock.startup-check=" + off, "lock.redis.connect-at-startup=false")
                .run(context -> {
                    long before = connections();
                    context.getBean(LockTemplate.class);
                    Actor.pass(Duration.ofMillis(300));
                    assertThat(connections()).isEqualTo(before);
                    context.getBean(LockTemplate.class).execute("a", () -> null);
                    assertThat(connections()).isGreaterThan(before);
                });
    }

    private long connections() {
        return String.valueOf(server.command("CLIENT", "LIST")).lines().count();
    }
}
