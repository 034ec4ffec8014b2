package io.github.lockboot.spec;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The traces in the folder that the system property {@code traces} names, in order of their names. A file
 * {@code .monitor} is the output of MONITOR and has several; one {@code .acknowledged} is of leases that have to be
 * acknowledged.
 */
public final class TraceFiles {

    private TraceFiles() {}

    public static List<Object> all() {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("traces")))) {
            List<List<String>> traces = new ArrayList<>();
            List<Object> ofRedis = new ArrayList<>();
            for (Path file : files.sorted().toList()) {
                List<String> lines = Files.readAllLines(file);
                if (file.toString().endsWith(".monitor")) {
                    RedisTrace.of(lines).forEach(trace -> ofRedis.add(trace.value()));
                } else if (file.toString().endsWith(".acknowledged")) {
                    ofRedis.add(
                            Map.of("lines", lines.stream().map(TraceFiles::line).toList()));
                } else {
                    traces.add(lines);
                }
            }
            return ofRedis.isEmpty() ? Trace.of(traces) : ofRedis;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A step, and of which client. */
    private static Object line(String seen) {
        int client = seen.lastIndexOf(' ') + 1;
        return seen.matches(".* [ab]")
                ? Map.of("k", seen.substring(0, client - 1), "c", seen.substring(client))
                : Map.of("k", seen);
    }
}
