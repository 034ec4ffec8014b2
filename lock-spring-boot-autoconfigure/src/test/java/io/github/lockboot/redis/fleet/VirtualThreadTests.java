package io.github.lockboot.redis.fleet;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;

import io.github.lockboot.Figures;
import io.github.lockboot.fixture.Jdks;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

@Tag("full")
class VirtualThreadTests {

    private static final int WITHOUT_PINNING = 25; // from JDK 24 on a monitor does not pin

    @Test
    void tenThousandVirtualThreadsOnAHundredNamesAllHoldOnceAndNoneIsPinned() throws Exception {
        Optional<Path> jdk = Jdks.here().newest(WITHOUT_PINNING);
        assumeTrue(
                jdk.isPresent(),
                "10,000 virtual threads: no JDK " + WITHOUT_PINNING + " or newer found; install one, or set JAVA_HOME_"
                        + WITHOUT_PINNING + " to its folder");
        try (Fleet fleet = new Fleet()) {
            Process process = new ProcessBuilder(
                            jdk.get().resolve("bin/java").toString(),
                            "-Xmx192m",
                            "-XX:+UseSerialGC",
                            "-cp",
                            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                            VirtualThreadLoad.class.getName(),
                            fleet.server().host(),
                            "" + fleet.server().port(),
                            "10000",
                            "100")
                    .redirectErrorStream(true)
                    .start();
            try {
                String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                Figures.report(
                        "10,000 virtual threads on 100 names: %s", said.lines().reduce("", (a, b) -> b));
                assertThat(said).contains("counted 10000 pinned 0 ");
                fleet.awaitNothingLeft();
            } finally {
                process.destroyForcibly();
            }
        }
    }
}
