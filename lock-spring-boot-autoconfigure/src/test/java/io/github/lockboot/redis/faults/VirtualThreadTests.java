package io.github.lockboot.redis.faults;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

@Tag("full")
class VirtualThreadTests {

    private static final Path JVMS = Path.of("/usr/lib/jvm");
    private static final Pattern VERSION = Pattern.compile("JAVA_VERSION=\"(\\d+)");
    private static final int WITHOUT_PINNING = 25; // from JDK 24 on a monitor does not pin

    @Test
    void tenThousandVirtualThreadsOnAHundredNamesAllHoldOnceAndNoneIsPinned() throws Exception {
        Optional<Path> jvm = newest();
        assumeTrue(
                jvm.isPresent(),
                "skipped: needs a JDK " + WITHOUT_PINNING + " or newer under " + JVMS + ", and there is none");
        try (Fleet fleet = new Fleet()) {
            Process process = new ProcessBuilder(
                            jvm.get().resolve("bin/java").toString(),
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

    private static Optional<Path> newest() throws IOException {
        if (!Files.isDirectory(JVMS)) {
            return Optional.empty();
        }
        try (Stream<Path> homes = Files.list(JVMS)) {
            return homes.filter(home -> version(home) >= WITHOUT_PINNING)
                    .filter(home -> Files.isExecutable(home.resolve("bin/java")))
                    .findFirst();
        }
    }

    private static int version(Path home) {
        try {
            Matcher version = VERSION.matcher(Files.readString(home.resolve("release")));
            return version.find() ? Integer.parseInt(version.group(1)) : 0;
        } catch (IOException noRelease) {
            return 0;
        }
    }
}
