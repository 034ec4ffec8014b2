package io.github.lockboot.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.github.lockboot.harness.Markdown;

/** As {@link Report}, of those with transactions. */
final class CommitsReport {

    private static final Path RESULTS = Path.of("results", "commits.tsv");
    private static final String HEAD = String.join("\t", "fault", "transactions", "refused", "committed");

    private final List<CommitsResult> all;

    private CommitsReport(List<CommitsResult> all) {
        this.all = all;
    }

    /** The results that the file has, with these instead of those of the same fault. */
    static CommitsReport updatedWith(List<CommitsResult> results) throws IOException {
        return new CommitsReport(Report.updated(RESULTS, CommitsResult::parse, results, CommitsResult::fault));
    }

    /** Writes the results file and the table between the markers of the document. */
    void write() throws IOException {
        List<String> lines = new ArrayList<>(List.of(HEAD));
        for (CommitsFault fault : CommitsFault.ALL) {
            find(fault).map(CommitsResult::toLine).ifPresent(lines::add);
        }
        Files.write(RESULTS, lines);
        Files.writeString(Report.DOCUMENT, in(Files.readString(Report.DOCUMENT)));
    }

    /** The document with the table. */
    String in(String document) {
        return Markdown.replaced(document, "commits", table());
    }

    private Optional<CommitsResult> find(CommitsFault fault) {
        return all.stream().filter(one -> one.fault().equals(fault.name())).findFirst();
    }

    private String table() {
        StringBuilder text = new StringBuilder(Markdown.row(
                "fault", "what has the transaction manager made", "transactions", "rolled back", "committed"));
        text.append("|---|---|---:|---:|---:|\n");
        for (CommitsFault fault : CommitsFault.ALL) {
            Optional<CommitsResult> result = find(fault);
            text.append(Markdown.row(
                    "`" + fault.name() + "`",
                    fault.manager(),
                    result.map(one -> "" + one.transactions()).orElse("not run"),
                    result.map(one -> "" + one.refused()).orElse(""),
                    result.map(one -> "" + one.committed()).orElse("")));
        }
        return text.toString();
    }
}
