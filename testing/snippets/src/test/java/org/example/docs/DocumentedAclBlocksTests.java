package org.example.docs;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import io.github.lockboot.Lease;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.fixture.AclUser;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisSentinel;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.RedisTls;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.health.HealthEndpoint;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.batch.BatchAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.quartz.QuartzAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * With each block of docs/operations.md alone, an application starts with {@code lock.startup-check=fail}, its locks
 * work, its health is what the page says, and Redis refuses the user nothing.
 */
@Tag("this-build")
class DocumentedAclBlocksTests {

    private static final List<String> AS_THE_USER =
            List.of("--spring.data.redis.username=locks", "--spring.data.redis.password=secret");

    private static List<String> block(String name) {
        return Regions.read().find(name).orElseThrow();
    }

    /** Redis reads such a line as redis-cli does. */
    private static void paste(List<String> lines, RedisServer server) throws IOException {
        List<String> replies = new ArrayList<>();
        try (Socket socket = new Socket(server.host(), server.port())) {
            socket.setSoTimeout(10_000);
            BufferedReader reader =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            for (String line : lines) {
                socket.getOutputStream().write((line + "\r\n").getBytes(StandardCharsets.UTF_8));
                replies.add(reader.readLine());
            }
        }
        assertThat(replies.get(0)).isEqualTo("+OK");
        if (!server.version().startsWith("7.0.")) { // which does not know CLIENT SETINFO
            assertThat(replies).allMatch("+OK"::equals);
        }
    }

    private static ConfigurableApplicationContext application(List<String> arguments) {
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .properties("spring.main.banner-mode=off", "lock.startup-check=fail", "lock.redis.command-timeout=10s")
                .run(arguments.toArray(String[]::new));
    }

    /** Until the first renewal, with which Redis begins to watch the key. */
    private static void useLocks(ConfigurableApplicationContext application) throws Exception {
        LockRegistry locks = application.getBean(LockRegistry.class);
        try (Lease lease = locks.acquire("order:4711")) {
            AtomicReference<Duration> before = new AtomicReference<>(lease.remainingLease());
            Await.until("it is renewed", () -> {
                Duration now = lease.remainingLease();
                return now.compareTo(before.getAndSet(now)) > 0;
            });
        }
    }

    private static Status health(ConfigurableApplicationContext application, String component) {
        return application
                .getBean(HealthEndpoint.class)
                .healthForPath(component)
                .getStatus();
    }

    private static List<String> arguments(List<String> user, String... others) {
        return Stream.concat(user.stream(), Stream.of(others)).toList();
    }

    private static List<String> at(RedisServer server) {
        return arguments(
                AS_THE_USER, "--spring.data.redis.host=" + server.host(), "--spring.data.redis.port=" + server.port());
    }

    @Test
    void withTheLeastRightsLocksWorkAndOnlyInfoAndTrackingAreRefused() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            paste(block("acl.redis"), server);
            try (ConfigurableApplicationContext application = application(at(server))) {
                useLocks(application);
                assertThat(health(application, "lock")).isEqualTo(Status.UP);
                assertThat(health(application, "redis")).isEqualTo(Status.DOWN);
            }
            assertThat(AclUser.refusals(server))
                    .isNotEmpty()
                    .allMatch(refusal -> refusal.matches("command (info|client\\|(tracking|caching))"));
        }
    }

    @Test
    void withTheRecommendedRightsNothingIsRefused() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            paste(block("acl-recommended.redis"), server);
            try (ConfigurableApplicationContext application = application(at(server))) {
                useLocks(application);
                assertThat(application.getBean(RedisLockRegistry.class).check().get())
                        .isEmpty();
                assertThat(health(application, "lock")).isEqualTo(Status.UP);
                assertThat(health(application, "redis")).isEqualTo(Status.UP);
            }
            assertThat(AclUser.allRefusals(server)).isEmpty();
        }
    }

    @Test
    void withTheRightsForAClusterNothingIsRefused() throws Exception {
        try (RedisCluster cluster = RedisCluster.start()) {
            for (RedisServer server : cluster.servers()) {
                paste(block("acl-cluster.redis"), server);
            }
            List<String> nodes =
                    arguments(AS_THE_USER, "--spring.data.redis.cluster.nodes=" + String.join(",", cluster.nodes()));
            try (ConfigurableApplicationContext application = application(nodes)) {
                useLocks(application);
                assertThat(application.getBean(RedisLockRegistry.class).check().get())
                        .isEmpty();
                assertThat(health(application, "lock")).isEqualTo(Status.UP);
                assertThat(health(application, "redis")).isEqualTo(Status.UP);
            }
            assertThat(cluster.servers())
                    .allSatisfy(
                            server -> assertThat(AclUser.allRefusals(server)).isEmpty());
        }
    }

    /** As the page configures it: TLS, a user for the servers, another for the Sentinels. */
    @Test
    void withTheRightsForSentinelsAndTlsNothingIsRefused() throws Exception {
        try (RedisTls tls = RedisTls.create();
                RedisSentinel sentinel = RedisSentinel.start(1, tls, server -> server)) {
            for (RedisServer server : sentinel.servers()) {
                paste(block("acl-recommended.redis"), server);
            }
            for (RedisServer server : sentinel.sentinels()) {
                paste(block("acl-sentinel.redis"), server);
            }
            List<String> page = List.of(
                    "--spring.config.location="
                            + Page.ROOT
                                    .resolve("testing/snippets/src/test/resources/snippets/sentinel-tls.yml")
                                    .toUri(),
                    "--REDIS_PASSWORD=secret",
                    "--SENTINEL_PASSWORD=sentinel-secret",
                    "--REDIS_SENTINELS=" + String.join(",", sentinel.nodes()),
                    "--REDIS_AUTHORITY=" + tls.authority().toUri());
            try (ConfigurableApplicationContext application = application(page)) {
                useLocks(application);
                assertThat(application.getBean(RedisLockRegistry.class).check().get())
                        .isEmpty();
                assertThat(health(application, "lock")).isEqualTo(Status.UP);
                assertThat(health(application, "redis")).isEqualTo(Status.UP);
            }
            assertThat(sentinel.servers())
                    .allSatisfy(
                            server -> assertThat(AclUser.allRefusals(server)).isEmpty());
            assertThat(sentinel.sentinels())
                    .allSatisfy(
                            server -> assertThat(AclUser.allRefusals(server)).isEmpty());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {BatchAutoConfiguration.class, QuartzAutoConfiguration.class, DataSourceAutoConfiguration.class})
    static class Application {}
}
