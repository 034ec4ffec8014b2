package io.github.lockboot.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.github.lockboot.harness.Markdown;

/** As {@link Report}, of those with hand-overs. */
final class HandOversReport {

    private static final Path RESULTS = Path.of("results", "handovers.tsv");
    private static final String HEAD = String.join(
            "\t", "fault", "rounds", "handed over", "taken over", "granted again within, ms", "with violations");

    private final List<HandOversResult> all;

    private HandOversReport(List<HandOversResult> all) {
        this.all = all;
    }

    /** The results that the file has, with these instead of those of the same fault. */
    static HandOversReport updatedWith(List<HandOversResult> results) throws IOException {
        return new HandOversReport(Report.updated(RESULTS, HandOversResult::parse, results, HandOversResult::fault));
    }

    /** Writes the results file and the table between the markers of the document. */
    void write() throws IOException {
        List<String> lines = new ArrayList<>(List.of(HEAD));
        for (HandOversFault fault : HandOversFault.ALL) {
            find(fault).map(HandOversResult::toLine).ifPresent(lines::add);
        }
        Files.write(RESULTS, lines);
        Files.writeString(Report.DOCUMENT, in(Files.readString(Report.DOCUMENT)));
    }

    /** The document with the table. */
    String in(String document) {
        return Markdown.replaced(document, "handovers", table());
    }

    private Optional<HandOversResult> find(HandOversFault fault) {
        return all.stream().filter(one -> one.fault().equals(fault.name())).findFirst();
    }

    private String table() {
        StringBuilder text = new StringBuilder(Markdown.row(
                "fault",
                "injection",
                "promised",
                "rounds",
                "handed over",
                "taken over",
                "granted again within",
                "violations"));
        text.append("|---|---|---:|---:|---:|---:|---:|---:|\n");
        for (HandOversFault fault : HandOversFault.ALL) {
            Optional<HandOversResult> result = find(fault);
            text.append(Markdown.row(
                    "`" + fault.name() + "`",
                    fault.injection(),
                    Report.seconds(fault.promised().toMillis()),
                    result.map(one -> "" + one.rounds()).orElse("not run"),
                    result.map(one -> "" + one.handedOver()).orElse(""),
                    result.map(one -> "" + one.takenOver()).orElse(""),
                    result.map(one -> Report.seconds(one.freeMillis())).orElse(""),
                    result.map(one -> "" + one.violated()).orElse("")));
        }
        return text.toString();
    }
}
