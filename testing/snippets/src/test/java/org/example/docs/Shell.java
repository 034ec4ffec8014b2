package org.example.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.lockboot.fixture.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** An operator's shell, in which {@code redis-cli} talks to one server. */
final class Shell {

    private final RedisServer server;
    private final Path programs;

    /**
     * @param server whom redis-cli is to talk to
     * @param programs an empty folder
     */
    Shell(RedisServer server, Path programs) {
        this.server = server;
        this.programs = programs;
    }

    /** What the lines print. They must end well, and print no error. */
    List<String> run(List<String> lines) {
        try {
            addRedisCli();
            Path printed = Files.createTempFile(programs, "printed", ".txt");
            ProcessBuilder shell = new ProcessBuilder("sh", "-e", "-c", String.join("\n", lines))
                    .redirectErrorStream(true)
                    .redirectOutput(printed.toFile())
                    .directory(programs.toFile());
            shell.environment().merge("PATH", programs.toString(), (path, first) -> first + ":" + path);
            Process process = shell.start();
            try {
                assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            } finally {
                process.destroyForcibly();
            }
            List<String> output = Files.readAllLines(printed, StandardCharsets.UTF_8);
            assertThat(process.exitValue())
                    .as("%s%nprinted%n%s", String.join("\n", lines), String.join("\n", output))
                    .isZero();
            return output;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private void addRedisCli() throws IOException {
        Path here = programs.resolve("redis-cli");
        if (Files.notExists(here)) {
            Optional<Path> installed = installed();
            assumeTrue(
                    installed.isPresent(),
                    "What docs/operations.md shows in a shell: no redis-cli found; install redis-tools");
            Files.writeString(
                    here,
                    "#!/bin/sh\nexec '" + installed.get() + "' -h " + server.host() + " -p " + server.port()
                            + " \"$@\"\n");
            assertThat(here.toFile().setExecutable(true)).isTrue();
        }
    }

    private static Optional<Path> installed() {
        return Stream.of(Optional.ofNullable(System.getenv("PATH")).orElse("").split(":"))
                .flatMap(folder -> Stream.of("redis-cli", "valkey-cli").map(name -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst();
    }
}
