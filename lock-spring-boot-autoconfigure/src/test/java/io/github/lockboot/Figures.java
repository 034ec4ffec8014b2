package io.github.lockboot;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;

/** What the runs measured: a line each in {@code target/figures.txt}. */
public final class Figures {

    private static final Path FILE = Path.of("target", "figures.txt");

    private Figures() {}

    public static void report(String format, Object... values) {
        try {
            Files.writeString(
                    FILE, String.format(format, values) + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static long millisSince(long nanoTime) {
        return Duration.ofNanos(System.nanoTime() - nanoTime).toMillis();
    }
}
