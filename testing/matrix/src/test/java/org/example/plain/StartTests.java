package org.example.plain;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What the start of an application loads that has the starter and no locked method: the same on every machine, unlike the time it takes. */
class StartTests {

    private static final Pattern LOADED = Pattern.compile("\\[class,load\\s*] (\\S+) source: .*");
    private static final int MOST_TYPES = 118;
    private static final int MOST_LAMBDAS = 20;

    @Test
    void whatOnlyLocksNeedIsLoadedAtTheFirstLock() throws Exception {
        List<String> loaded = loadedAtTheStart();
        assertThat(loaded).contains("io.github.lockboot.LockTemplate");
        assertThat(loaded)
                .filteredOn(name -> name.startsWith("io.github.lockboot.") && name.contains("$$Lambda"))
                .as("lambdas of the library")
                .hasSizeLessThanOrEqualTo(MOST_LAMBDAS);
        assertThat(loaded)
                .filteredOn(name -> name.startsWith("io.github.lockboot.") && !name.contains("$$Lambda"))
                .as("types of the library, also for health, metrics, endpoints and events if the application has them")
                .hasSizeLessThanOrEqualTo(MOST_TYPES)
                .doesNotContain("io.github.lockboot.engine.Name", "io.github.lockboot.redis.protocol.LuaScript");
        assertThat(loaded)
                .as("what reads expressions")
                .doesNotContain("org.springframework.expression.spel.standard.InternalSpelExpressionParser");
    }

    private static List<String> loadedAtTheStart() throws Exception {
        try (RedisServer redis = RedisServer.start()) {
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Xlog:class+load:stdout:tags",
                            "-cp",
                            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                            PlainApplication.class.getName(),
                            "--spring.data.redis.url=" + redis.uri(),
                            "--server.port=0")
                    .redirectErrorStream(true)
                    .start();
            try {
                List<String> said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                        .lines()
                        .toList();
                List<String> before =
                        said.stream().takeWhile(line -> !line.contains("up after ")).toList();
                assertThat(before).as("it starts").hasSizeLessThan(said.size());
                return before.stream()
                        .map(LOADED::matcher)
                        .filter(Matcher::matches)
                        .map(line -> line.group(1))
                        .toList();
            } finally {
                process.destroyForcibly();
            }
        }
    }
}
