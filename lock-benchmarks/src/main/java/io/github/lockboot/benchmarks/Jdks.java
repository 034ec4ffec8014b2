package io.github.lockboot.benchmarks;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Stream;

/** The Java installations on this machine. */
final class Jdks {

    private static final int FIRST_WITH_VIRTUAL_THREADS = 21;

    private Jdks() {}

    static Path current() {
        return Path.of(System.getProperty("java.home"));
    }

    /** The newest one with virtual threads: this one, or one below {@code /usr/lib/jvm} or the property {@code jdks}. */
    static Optional<Path> withVirtualThreads() {
        Path folder = Path.of(System.getProperty("jdks", "/usr/lib/jvm"));
        try (Stream<Path> found = Files.isDirectory(folder) ? Files.list(folder) : Stream.<Path>empty()) {
            return Stream.concat(Stream.of(current()), found)
                    .filter(jdk -> featureOf(jdk) >= FIRST_WITH_VIRTUAL_THREADS)
                    .max(Comparator.comparingInt(Jdks::featureOf));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static int featureOf(Path jdk) {
        Path release = jdk.resolve("release");
        if (!Files.isReadable(release)) {
            return 0;
        }
        try (Reader reader = Files.newBufferedReader(release)) {
            Properties properties = new Properties();
            properties.load(reader);
            String version = properties.getProperty("JAVA_VERSION", "0").replace("\"", "");
            return Runtime.Version.parse(version).feature();
        } catch (IOException | IllegalArgumentException e) {
            return 0;
        }
    }
}
