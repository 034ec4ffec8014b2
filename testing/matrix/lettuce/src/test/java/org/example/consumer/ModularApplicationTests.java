package org.example.consumer;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** An application that is a module itself is compiled against the modules of the jars, and runs on the module path. */
class ModularApplicationTests {

    private static final Path SOURCES = Path.of("src/test/modular");

    /** The jars that the starter brings. */
    private static final String OF_THE_STARTER = "(lock-spring-boot-(starter|autoconfigure)|spring-(?!.*test).*|commons-logging|lettuce"
            + "|redis-authx|netty|reactor|reactive-streams|micrometer|slf4j|logback|log4j|jul-to|jakarta\\.annotation|snakeyaml|jspecify)"
            + ".*(?<!-tests)\\.jar";

    @TempDir
    private Path classes;

    private static String modules() {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        return Stream.of(classPath.split(File.pathSeparator))
                .filter(path -> Path.of(path).getFileName().toString().matches(OF_THE_STARTER))
                .collect(Collectors.joining(File.pathSeparator));
    }

    private int compile(String... sources) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<String> arguments = new ArrayList<>(List.of("-proc:none", "-parameters", "-p", modules(), "-d", classes.toString()));
        arguments.addAll(List.of(sources));
        return compiler.run(null, null, null, arguments.toArray(String[]::new));
    }

    @Test
    void itRunsOnTheModulePath() throws Exception {
        assertThat(compile(
                        SOURCES.resolve("module-info.java").toString(),
                        SOURCES.resolve("shop/Shop.java").toString()))
                .isZero();
        try (RedisServer server = RedisServer.start()) {
            Process shop = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                            "-p",
                            modules() + File.pathSeparator + classes,
                            "--add-modules",
                            "ALL-MODULE-PATH",
                            "-m",
                            "shop/shop.Shop",
                            "--spring.data.redis.host=" + server.host(),
                            "--spring.data.redis.port=" + server.port(),
                            "--lock.startup-check=fail")
                    .redirectErrorStream(true)
                    .start();
            String said = new String(shop.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(shop.waitFor(1, TimeUnit.MINUTES)).isTrue();
            assertThat(said).contains("paid under order:4711", "from module io.github.lockboot");
        }
    }

    @Test
    void itDoesNotSeeTheRoomsOfTheLibrary() throws IOException {
        Path peeking = Files.createDirectories(classes.resolve("sources/shop")).resolve("Peeking.java");
        Files.writeString(peeking, "package shop; class Peeking { io.github.lockboot.engine.LockEngine engine; }");
        assertThat(compile(SOURCES.resolve("module-info.java").toString(), peeking.toString()))
                .isPositive();
    }
}
