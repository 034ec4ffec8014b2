package io.github.lockboot.schedules;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Has jcstress run what is without a lock, millions of times, on all cores. */
@Tag("full")
@Tag("schedules")
class StressTests {

    private static final int DOSE = Integer.getInteger("schedules.dose", 1);

    @TempDir
    private Path results;

    @Test
    void noTwoThreadsDoWhatOneMayDo() throws IOException, InterruptedException {
        String report = stress("HoldStress|TaskStress", DOSE);
        assertThat(report).contains("Failed tests: No matches", "Error tests: No matches");
        assertThat(report).containsPattern("remaining tests: 9 matching");
    }

    @Test
    void aClaimThatLooksFirstAndActsThenIsFound() throws IOException, InterruptedException {
        assertThat(stress("PlantedStress", 1)).containsPattern("Failed tests: [1-9]");
    }

    private String stress(String tests, int iterations) throws IOException, InterruptedException {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "org.openjdk.jcstress.Main",
                "-t",
                tests,
                "-jvmArgs",
                "-Xmx256m",
                "-sc",
                "false",
                "-af",
                "NONE",
                "-f",
                "1",
                "-fsm",
                "1",
                "-iters",
                Integer.toString(iterations),
                "-time",
                "500",
                "-r",
                results.toString());
        Process process = new ProcessBuilder(command)
                .directory(results.toFile())
                .redirectErrorStream(true)
                .start();
        String report = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        System.out.println("[schedules] " + report);
        return report;
    }
}
