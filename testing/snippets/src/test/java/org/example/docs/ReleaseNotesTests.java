package org.example.docs;

import java.nio.charset.StandardCharsets;
import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

import static org.assertj.core.api.Assertions.assertThat;

/** What a release changes in the pages, as testing/release/run makes it. */
@Tag("this-build")
@DisabledOnOs(
        value = OS.WINDOWS,
        disabledReason = "The text of a release: it is made by a script of bash; build on Linux or macOS")
class ReleaseNotesTests {

    private record Run(int exit, String output) {

        static Run of(String... arguments) throws Exception {
            ProcessBuilder script = new ProcessBuilder("testing/release/run", "notes");
            script.command().addAll(List.of(arguments));
            Process process = script.directory(Page.ROOT.toFile())
                    .redirectErrorStream(true)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Run(process.waitFor(), output);
        }
    }

    @Test
    void everyPageNamesTheReleaseAndTheChangelogItsDate() throws Exception {
        Run run = Run.of();
        assertThat(run.exit).as(run.output).isZero();
        assertThat(run.output.lines().filter(line -> line.startsWith("+")))
                .noneMatch(line -> line.contains("SNAPSHOT") || line.contains("released yet") || line.contains("<!--"));
    }

    @Test
    void aVersionWithoutAnEntryInTheChangelogIsNotReleased() throws Exception {
        Run run = Run.of("999.0.0");
        assertThat(run.exit).isNotZero();
        assertThat(run.output).contains("CHANGELOG.md says nothing about 999.0.0");
    }
}
