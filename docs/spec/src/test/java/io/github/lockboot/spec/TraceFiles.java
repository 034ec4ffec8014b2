package io.github.lockboot.spec;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The traces in the folder that the system property {@code traces} names, in order of their names. */
public final class TraceFiles {

    private TraceFiles() {}

    public static List<Object> all() {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("traces")))) {
            List<List<String>> traces = new ArrayList<>();
            for (Path file : files.sorted().toList()) {
                traces.add(Files.readAllLines(file));
            }
            return Trace.of(traces);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
