package io.github.lockboot.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

import io.github.lockboot.harness.Markdown;

/** As {@link Report}, of those with many leases. */
final class LeasesReport {

    private static final Path RESULTS = Path.of("results", "leases.tsv");
    private static final String HEAD =
            String.join("\t", "fault", "renewals a second before", "after", "lost", "another lock not granted for, ms");

    private final List<LeasesResult> all;

    private LeasesReport(List<LeasesResult> all) {
        this.all = all;
    }

    /** The results that the file has, with these instead of those of the same fault. */
    static LeasesReport updatedWith(List<LeasesResult> results) throws IOException {
        return new LeasesReport(Report.updated(RESULTS, LeasesResult::parse, results, LeasesResult::fault));
    }

    /** Writes the results file and the table between the markers of the document. */
    void write() throws IOException {
        List<String> lines = new ArrayList<>(List.of(HEAD));
        for (LeasesFault fault : LeasesFault.ALL) {
            find(fault).map(LeasesResult::toLine).ifPresent(lines::add);
        }
        Files.write(RESULTS, lines);
        Files.writeString(Report.DOCUMENT, in(Files.readString(Report.DOCUMENT)));
    }

    /** The document with the table. */
    String in(String document) {
        return Markdown.replaced(document, "leases", table());
    }

    private Optional<LeasesResult> find(LeasesFault fault) {
        return all.stream().filter(one -> one.fault().equals(fault.name())).findFirst();
    }

    private String table() {
        StringBuilder text = new StringBuilder(Markdown.row(
                "fault",
                "injection",
                "leases",
                "`ttl`",
                "instances",
                "load of Redis",
                "renewals a second before",
                "after",
                "lost",
                "another lock not granted for"));
        text.append("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n");
        for (LeasesFault fault : LeasesFault.ALL) {
            Optional<LeasesResult> result = find(fault);
            text.append(Markdown.row(
                    "`" + fault.name() + "`",
                    fault.injection(),
                    number(fault.leases()),
                    fault.ttl().toSeconds() + " s",
                    "" + fault.instances(),
                    fault.load() == 0 ? "" : Math.round(100 * fault.load()) + " %",
                    result.map(one -> number(one.before())).orElse("not run"),
                    result.map(one -> number(one.after())).orElse(""),
                    result.map(one -> number(one.lost())).orElse(""),
                    result.map(one -> Report.seconds(one.stallMillis())).orElse("")));
        }
        return text.toString();
    }

    private static String number(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }
}
