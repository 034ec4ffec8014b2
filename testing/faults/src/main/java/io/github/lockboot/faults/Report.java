package io.github.lockboot.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

import io.github.lockboot.faults.Fault.Harm;
import io.github.lockboot.fixture.RedisBinary;
import io.github.lockboot.harness.Checkout;
import io.github.lockboot.harness.Markdown;

/** Keeps the results file and the tables made of it. The result of a fault and contestant replaces the former one. */
final class Report {

    private static final Path RESULTS = Path.of("results", "results.tsv");
    static final Path DOCUMENT = Path.of("..", "..", "docs", "evidence", "reliability.md");

    /** Of before the results changed. */
    private static final String COMMIT = Checkout.commit();

    private static final String HEAD = String.join(
            "\t",
            "fault",
            "contestant",
            "runs",
            "with violations",
            "not recovered",
            "with hanging threads",
            "worst recovery, ms",
            "longest overlap, ms",
            "writes refused",
            "writes lost",
            "grants",
            "first seed");

    private final List<FaultResult> all;

    private Report(List<FaultResult> all) {
        this.all = all;
    }

    /** The results that the file has, with these instead of those of the same fault and contestant. */
    static Report updatedWith(List<FaultResult> results) throws IOException {
        return new Report(updated(RESULTS, FaultResult::parse, results, one -> List.of(one.fault(), one.contestant())));
    }

    /** The results that a file has, with these instead of those that are of the same. */
    static <R> List<R> updated(Path file, Function<String, R> parse, List<R> results, Function<R, Object> of)
            throws IOException {
        List<R> all = new ArrayList<>(results);
        if (Files.exists(file)) {
            Files.readAllLines(file).stream()
                    .skip(1)
                    .map(parse)
                    .filter(old ->
                            results.stream().noneMatch(one -> of.apply(one).equals(of.apply(old))))
                    .forEach(all::add);
        }
        return all;
    }

    /** Writes the results file and the tables between the markers of the document. */
    void write() throws IOException {
        Files.createDirectories(RESULTS.toAbsolutePath().getParent());
        List<String> lines = new ArrayList<>(List.of(HEAD));
        for (Fault<?> fault : Faults.ALL) {
            for (Contestant contestant : Contestant.values()) {
                find(fault, contestant).map(FaultResult::toLine).ifPresent(lines::add);
            }
        }
        Files.write(RESULTS, lines);
        Files.writeString(DOCUMENT, Markdown.replaced(in(Files.readString(DOCUMENT)), "setting", setting()));
    }

    /** The document with the tables. */
    String in(String document) {
        return Markdown.replaced(Markdown.replaced(document, "faults", table()), "data-loss", dataTable());
    }

    private Optional<FaultResult> find(Fault<?> fault, Contestant contestant) {
        return all.stream().filter(one -> one.isOf(fault, contestant)).findFirst();
    }

    static String setting() {
        return "Newest rows: " + LocalDate.now(ZoneOffset.UTC) + ", commit " + COMMIT + ". Redis "
                + RedisBinary.find().version() + ", Java "
                + Runtime.version().feature() + ", "
                + Runtime.getRuntime().availableProcessors() + " cores, lease "
                + Terms.TTL.toSeconds() + " s, command timeout " + Terms.COMMAND_TIMEOUT.toSeconds() + " s.\n";
    }

    private String table() {
        StringBuilder text = new StringBuilder(Markdown.row(
                "fault",
                "injection",
                "promised",
                "this library: runs",
                "violations",
                "worst recovery",
                "Redisson RLock",
                "Spring Integration"));
        text.append("|---|---|---:|---:|---:|---:|---|---|\n");
        for (Fault<?> fault : Faults.ALL) {
            if (fault.harm() != Harm.DATA) {
                Optional<FaultResult> ours = find(fault, Contestant.THIS_LIBRARY);
                text.append(Markdown.row(
                        "`" + fault.name() + "`",
                        fault.injection(),
                        seconds(fault.bound().toMillis()),
                        ours.map(one -> "" + one.runs()).orElse("not run"),
                        ours.map(one -> "" + one.violated()).orElse(""),
                        ours.map(Report::recovery).orElse(""),
                        peer(fault, Contestant.REDISSON),
                        peer(fault, Contestant.SPRING_INTEGRATION)));
            }
        }
        return text.toString();
    }

    private String dataTable() {
        StringBuilder text = new StringBuilder(Markdown.row(
                "fault",
                "injection",
                "this library: runs",
                "violations of what is promised here",
                "worst recovery",
                "two holders for",
                "stale writes refused",
                "accepted",
                "Redisson RLock",
                "Spring Integration"));
        text.append("|---|---|---:|---:|---:|---:|---:|---:|---|---|\n");
        for (Fault<?> fault : Faults.ALL) {
            if (fault.harm() == Harm.DATA) {
                Optional<FaultResult> ours = find(fault, Contestant.THIS_LIBRARY);
                text.append(Markdown.row(
                        "`" + fault.name() + "`",
                        fault.injection(),
                        ours.map(one -> "" + one.runs()).orElse("not run"),
                        ours.map(one -> "" + one.violated()).orElse(""),
                        ours.map(Report::recovery).orElse(""),
                        ours.map(one -> seconds(one.overlapMillis())).orElse(""),
                        ours.map(one -> "" + one.refused()).orElse(""),
                        ours.map(one -> "" + one.lost()).orElse(""),
                        peer(fault, Contestant.REDISSON),
                        peer(fault, Contestant.SPRING_INTEGRATION)));
            }
        }
        return text.toString();
    }

    private String peer(Fault<?> fault, Contestant contestant) {
        if (!fault.contestants().contains(contestant)) {
            return "not driven";
        }
        return find(fault, contestant)
                .map(one -> one.runs() + " / " + one.violated() + " / " + recovery(one) + overlap(one)
                        + (one.lost() > 0 ? "; writes lost: " + one.lost() : ""))
                .orElse("not run");
    }

    private static String overlap(FaultResult one) {
        return one.overlapMillis() > 0 ? "; two holders for " + seconds(one.overlapMillis()) : "";
    }

    private static String recovery(FaultResult one) {
        String text = one.unrecovered() == one.runs() ? "" : seconds(one.recoveryMillis());
        if (one.unrecovered() > 0) {
            text += (text.isEmpty() ? "" : ", ") + "**not within " + Scene.PATIENCE.toSeconds() + " s in "
                    + one.unrecovered() + "**";
        }
        return one.hanging() > 0 ? text + ", **hanging threads in " + one.hanging() + "**" : text;
    }

    static String seconds(long millis) {
        return millis < 1_000 ? millis + " ms" : String.format(Locale.ROOT, "%.1f s", millis / 1_000.0);
    }
}
