package io.github.lockboot;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Applications may fill the common pool, even with tasks that wait for locks: locks do nothing of their own there. */
class FullCommonPoolTests {

    private static String said;

    @BeforeAll
    static void run() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Djava.util.concurrent.ForkJoinPool.common.parallelism=2",
                            "-cp",
                            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                            FullCommonPool.class.getName(),
                            server.host(),
                            "" + server.port())
                    .redirectErrorStream(true)
                    .start();
            try {
                said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            } finally {
                process.destroyForcibly();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "memory, executeAsync",
        "memory, a failure in executeAsync",
        "memory, closeAfter",
        "memory, closeAfter a time",
        "memory, a flight",
        "memory, a release for which the pool waits",
        "redis, executeAsync",
        "redis, a failure in executeAsync",
        "redis, closeAfter",
        "redis, closeAfter a time",
        "redis, a flight",
        "redis, a release for which the pool waits"
    })
    void noReleaseAndNoStepOfAFlightWaitsForAThreadOfTheCommonPool(String registry, String what) {
        assertThat(said).contains(registry + ": " + what + " ended");
    }
}
