package io.github.lockboot.redis.fleet;

import java.io.BufferedReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.TestRegistries;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The process that left a lock taken for a time is killed. */
class KilledKeeperTests {

    private static final Duration TTL = Duration.ofSeconds(1);
    private static final Duration KEPT = Duration.ofSeconds(4);

    @ParameterizedTest
    @ValueSource(strings = {"EXCLUSIVE", "SHARED", "LIMITED"})
    void theLockStaysTakenForItsTimeAndNoLonger(String kind) throws Exception {
        try (RedisServer server = RedisServer.start();
                TestRegistries registries = TestRegistries.on(server)) {
            RedisLockRegistry other = registries.connected();
            Process keeper = new ProcessBuilder(List.of(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-XX:+UseSerialGC",
                            "-cp",
                            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                            Keeper.class.getName(),
                            server.host(),
                            "" + server.port(),
                            kind))
                    .redirectErrorStream(true)
                    .start();
            try (BufferedReader output = keeper.inputReader()) {
                assertThat(output.lines().filter("kept"::equals).findFirst()).isPresent();
            } finally {
                keeper.destroyForcibly().waitFor();
            }
            assertThat((Long) server.command("PTTL", "lock:kept")).isGreaterThan(TTL.toMillis());
            try (Lease lease = other.acquire("kept", LockOptions.defaults().withWaitTime(Duration.ofMinutes(1)))) {
                assertThat(lease.isValid()).isTrue();
            }
        }
    }

    /** Leaves a lock taken, and waits for its end. */
    static final class Keeper {

        private Keeper() {}

        /** @param args host, port, kind */
        public static void main(String[] args) throws Exception {
            try (TestRegistries registries = TestRegistries.at(args[0], Integer.parseInt(args[1]))) {
                LockOptions options = LockOptions.defaults().withTtl(TTL).withoutRenewal();
                options = switch (args[2]) {
                    case "SHARED" -> options.shared();
                    case "LIMITED" -> options.withPermits(2);
                    default -> options;
                };
                registries.connected().acquire("kept", options).closeAfter(KEPT).join();
                System.out.println("kept");
                Thread.sleep(Long.MAX_VALUE);
            }
        }
    }
}
