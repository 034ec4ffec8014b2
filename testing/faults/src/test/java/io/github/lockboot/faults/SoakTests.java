package io.github.lockboot.faults;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Faults of all kinds, one after the other, on the same processes, for less than a minute. {@code -Dsoak} makes it an
 * hour and {@code -Dsoak=10m} ten minutes; then {@code results/soak.md} shows what came of it. {@code -Dseed=} repeats
 * the order of the faults.
 */
@Tag("full")
@Tag("soak")
class SoakTests {

    @Test
    void nothingIsViolatedAndNothingGrows() throws Exception {
        String asked = System.getProperty("soak");
        long seed = Long.getLong("seed", System.currentTimeMillis());
        System.out.println("seed " + seed);
        Soak soak = new Soak(
                asked == null
                        ? Duration.ofSeconds(42)
                        : Duration.parse("PT" + (asked.equals("true") || asked.isEmpty() ? "1h" : asked)),
                seed,
                System.getProperty("fault"));
        Path folder = Path.of(asked == null ? "target" : "results");
        try {
            soak.run();
        } finally {
            Files.writeString(Files.createDirectories(folder).resolve("soak.md"), SoakPage.of(soak));
        }
        assertThat(soak.violations()).as("-Dseed=%d", seed).isEmpty();
    }
}
