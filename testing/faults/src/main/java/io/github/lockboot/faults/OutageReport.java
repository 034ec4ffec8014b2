package io.github.lockboot.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import io.github.lockboot.harness.Markdown;

/** As {@link Report}, of outages. */
final class OutageReport {

    private static final Path RESULTS = Path.of("results", "outages.tsv");
    private static final String HEAD = String.join(
            "\t",
            "fault",
            "Spring Boot",
            "log before, bytes",
            "log, bytes",
            "close while away, ms",
            "granted after, ms",
            "close after, ms");

    private final List<OutageResult> all;

    private OutageReport(List<OutageResult> all) {
        this.all = all;
    }

    /** The results that the file has, with these instead of those of the same fault and line of Spring Boot. */
    static OutageReport updatedWith(List<OutageResult> results) throws IOException {
        return new OutageReport(
                Report.updated(RESULTS, OutageResult::parse, results, one -> List.of(one.fault(), one.line())));
    }

    /** Writes the results file and the table between the markers of the document. */
    void write() throws IOException {
        List<String> lines = new ArrayList<>(List.of(HEAD));
        for (OutageFault fault : OutageFault.ALL) {
            of(fault).map(OutageResult::toLine).forEach(lines::add);
        }
        Files.write(RESULTS, lines);
        Files.writeString(Report.DOCUMENT, in(Files.readString(Report.DOCUMENT)));
    }

    /** The document with the table. */
    String in(String document) {
        return Markdown.replaced(document, "outages", table());
    }

    private Stream<OutageResult> of(OutageFault fault) {
        return all.stream()
                .filter(one -> one.fault().equals(fault.name()))
                .sorted(Comparator.comparing(OutageResult::line));
    }

    private String table() {
        StringBuilder text = new StringBuilder(Markdown.row(
                "fault",
                "client and Redis",
                "Spring Boot",
                "log in the " + Outages.BEFORE.toSeconds() + " s before",
                "log in " + Outages.AWAY.toSeconds() + " s without Redis",
                "close without Redis",
                "a lock is granted after the return within",
                "close after the return"));
        text.append("|---|---|---|---:|---:|---:|---:|---:|\n");
        for (OutageFault fault : OutageFault.ALL) {
            of(fault)
                    .forEach(one -> text.append(Markdown.row(
                            "`" + fault.name() + "`",
                            fault.text(),
                            one.line(),
                            bytes(one.logBefore()),
                            bytes(one.log()),
                            time(one.closeAwayMillis(), Outages.CLOSES_WITHIN),
                            time(one.grantedMillis(), Scene.PATIENCE),
                            time(one.closeMillis(), Outages.CLOSES_WITHIN))));
        }
        return text.toString();
    }

    private static String time(long millis, Duration atMost) {
        return millis == OutageResult.NEVER ? "**more than " + atMost.toSeconds() + " s**" : Report.seconds(millis);
    }

    private static String bytes(long bytes) {
        return bytes < 1_000
                ? bytes + " B"
                : bytes < 1_000_000
                        ? String.format(Locale.ROOT, "%.1f KB", bytes / 1e3)
                        : String.format(Locale.ROOT, "%.1f MB", bytes / 1e6);
    }
}
