package io.github.lockboot.redis;

import java.io.File;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.RedisTls;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.SslOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;

/**
 * A failure names why a connection that was lost cannot be made again, be it the registry's own or one that it shares
 * with the application.
 */
class LostConnectionTests {

    private final RedisTls tls = RedisTls.create();
    private final RedisServer server = RedisServer.builder().tls(tls).start();

    @AfterEach
    void stop() {
        server.close();
        tls.close();
    }

    /** Soon: a call that was sent before the end of the connection was noticed does not say it. */
    private static void assertFailsBecauseOf(RedisLockRegistry registry, String reason) {
        NamedLock lock = registry.get("x");
        AtomicReference<String> last = new AtomicReference<>("held");
        Await.until(
                Duration.ofSeconds(60),
                () -> {
                    try {
                        lock.tryLock();
                        lock.unlock();
                        return false;
                    } catch (LockUnavailableException unavailable) {
                        last.set(String.valueOf(unavailable.getMessage()));
                        return last.get().contains("(no connection to Redis: ")
                                && last.get().contains(reason);
                    }
                },
                () -> reason + " is not in: " + last);
    }

    private static RedisLockRegistry connected(TestRegistries registries, boolean sharing) {
        RedisLockRegistry registry = registries.registry(
                builder -> (sharing ? builder.sharingConnections() : builder).commandTimeout(Duration.ofMillis(1_500)));
        Await.until("connected", () -> TestRegistries.canLock(registry, "connecting"));
        return registry;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void nobodyListensAnyMore(boolean sharing) {
        try (TestRegistries registries = TestRegistries.on(server)) {
            RedisLockRegistry registry = connected(registries, sharing);
            server.kill();
            assertFailsBecauseOf(registry, "Connection refused");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void thePasswordIsAnother(boolean sharing) {
        try (TestRegistries registries = TestRegistries.on(server)) {
            RedisLockRegistry registry = connected(registries, sharing);
            server.command("CONFIG", "SET", "requirepass", "another");
            try (var probe = server.probe(Duration.ofSeconds(10))) {
                probe.command("AUTH", "another");
                probe.command("CLIENT", "KILL", "TYPE", "normal");
            }
            assertFailsBecauseOf(registry, "NOAUTH");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theCertificateIsOfAnotherAuthority(boolean sharing) {
        LettuceClientConfiguration trusting = LettuceClientConfiguration.builder()
                .clientOptions(ClientOptions.builder()
                        .sslOptions(SslOptions.builder()
                                .trustManager(tls.authority().toFile())
                                .build())
                        .build())
                .useSsl()
                .build();
        RedisStandaloneConfiguration address = new RedisStandaloneConfiguration(server.host(), server.tlsPort());
        try (TestRegistries registries = TestRegistries.on(address, trusting);
                RedisTls another = RedisTls.create()) {
            RedisLockRegistry registry = connected(registries, sharing);
            File folder = another.authority().getParent().toFile();
            server.command(
                    "CONFIG",
                    "SET",
                    "tls-cert-file",
                    new File(folder, "server.crt").getPath(),
                    "tls-key-file",
                    new File(folder, "server.key").getPath(),
                    "tls-ca-cert-file",
                    another.authority().toString());
            server.command("CLIENT", "KILL", "TYPE", "normal");
            // Both authorities have one name, so the key is what differs.
            assertFailsBecauseOf(registry, "Signature does not match");
        }
    }
}
