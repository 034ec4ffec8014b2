package io.github.lockboot.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToLongFunction;

import io.github.lockboot.harness.Markdown;

/** As {@link Report}, of outages. */
final class OutageReport {

    private static final Path RESULTS = Path.of("results", "outages.tsv");
    private static final String HEAD = String.join(
            "\t",
            "fault",
            "log before, bytes",
            "log, bytes",
            "close while away, ms",
            "granted after, ms",
            "close after, ms");

    private final List<OutageResult> all;

    private OutageReport(List<OutageResult> all) {
        this.all = all;
    }

    /** The results that the file has, with these instead of those of the same fault. */
    static OutageReport updatedWith(List<OutageResult> results) throws IOException {
        return new OutageReport(Report.updated(RESULTS, OutageResult::parse, results, OutageResult::fault));
    }

    /** Writes the results file and the table between the markers of the document. */
    void write() throws IOException {
        List<String> lines = new ArrayList<>(List.of(HEAD));
        for (OutageFault fault : OutageFault.ALL) {
            find(fault).map(OutageResult::toLine).ifPresent(lines::add);
        }
        Files.write(RESULTS, lines);
        Files.writeString(Report.DOCUMENT, in(Files.readString(Report.DOCUMENT)));
    }

    /** The document with the table. */
    String in(String document) {
        return Markdown.replaced(document, "outages", table());
    }

    private Optional<OutageResult> find(OutageFault fault) {
        return all.stream().filter(one -> one.fault().equals(fault.name())).findFirst();
    }

    private String table() {
        StringBuilder text = new StringBuilder(Markdown.row(
                "fault",
                "client and Redis",
                "log in the " + Outages.BEFORE.toSeconds() + " s before",
                "log in " + Outages.AWAY.toSeconds() + " s without Redis",
                "close without Redis",
                "a lock is granted after the return within",
                "close after the return"));
        text.append("|---|---|---:|---:|---:|---:|---:|\n");
        for (OutageFault fault : OutageFault.ALL) {
            Optional<OutageResult> result = find(fault);
            text.append(Markdown.row(
                    "`" + fault.name() + "`",
                    fault.text(),
                    result.map(one -> bytes(one.logBefore())).orElse("not run"),
                    result.map(one -> bytes(one.log())).orElse(""),
                    time(result, OutageResult::closeAwayMillis, Outages.CLOSES_WITHIN.toSeconds()),
                    time(result, OutageResult::grantedMillis, Scene.PATIENCE.toSeconds()),
                    time(result, OutageResult::closeMillis, Outages.CLOSES_WITHIN.toSeconds())));
        }
        return text.toString();
    }

    private static String time(Optional<OutageResult> result, ToLongFunction<OutageResult> figure, long atMost) {
        return result.map(one -> {
                    long millis = figure.applyAsLong(one);
                    return millis == OutageResult.NEVER ? "**more than " + atMost + " s**" : Report.seconds(millis);
                })
                .orElse("");
    }

    private static String bytes(long bytes) {
        return bytes < 1_000
                ? bytes + " B"
                : bytes < 1_000_000
                        ? String.format(Locale.ROOT, "%.1f KB", bytes / 1e3)
                        : String.format(Locale.ROOT, "%.1f MB", bytes / 1e6);
    }
}
