package io.github.lockboot.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The page has a row for each fault of the suite, with what the results files have of it. */
@Tag("this-build")
class ReportTests {

    @Test
    void thePageShowsTheFaultsOfTheSuiteAndTheirResults() throws IOException {
        Report report = Report.updatedWith(List.of());
        assertThat(rows(page())).isEqualTo(rows(report.in(page())));
    }

    @Test
    void thePageShowsTheFaultsWithManyLeasesAndTheirResults() throws IOException {
        LeasesReport report = LeasesReport.updatedWith(List.of());
        assertThat(rows(page())).isEqualTo(rows(report.in(page())));
    }

    @Test
    void thePageShowsTheFaultsWithTransactionsAndTheirResults() throws IOException {
        CommitsReport report = CommitsReport.updatedWith(List.of());
        assertThat(rows(page())).isEqualTo(rows(report.in(page())));
    }

    @Test
    void thePageShowsTheOutagesAndTheirResults() throws IOException {
        OutageReport report = OutageReport.updatedWith(List.of());
        assertThat(rows(page())).isEqualTo(rows(report.in(page())));
    }

    @Test
    void thePageShowsTheHandOversAndTheirResults() throws IOException {
        HandOversReport report = HandOversReport.updatedWith(List.of());
        assertThat(rows(page())).isEqualTo(rows(report.in(page())));
    }

    private static String page() throws IOException {
        return Files.readString(Report.DOCUMENT);
    }

    private static List<String> rows(String page) {
        return page.lines().filter(line -> line.startsWith("| `")).toList();
    }
}
