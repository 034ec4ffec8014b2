package io.github.lockboot.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.github.lockboot.harness.Contender;
import io.github.lockboot.harness.Markdown;

/** Writes results as Markdown tables. */
final class Report {

    private final Map<Scenario, List<Result>> results;
    private final Setting setting;

    Report(Map<Scenario, List<Result>> results, Setting setting) {
        this.results = results;
        this.setting = setting;
    }

    /** Writes the tables and the charts, and the targets into the README, in the module's folder. */
    void write(Path module) throws IOException {
        Path folder = Files.createDirectories(module.resolve("results"));
        Files.writeString(folder.resolve("results.md"), all());
        Files.writeString(folder.resolve("chart.svg"), Chart.of(results));
        Files.writeString(folder.resolve("headline.svg"), Chart.headlineOf(results));
        Path readme = module.resolve("README.md");
        Files.writeString(readme, Markdown.replaced(Files.readString(readme), "results", origin() + "\n" + targets()));
    }

    private String all() {
        StringBuilder text = new StringBuilder("# Results\n\n").append(origin());
        results.forEach((scenario, of) -> text.append("\n").append(section(scenario, of)));
        return text.append("\n## Targets\n\n").append(targets()).toString();
    }

    private String origin() {
        return "Measured on " + setting.machine() + "; " + setting.software() + ".\nA " + setting.rounds() + ".\n";
    }

    /** What was aimed at and what was reached. */
    String targets() {
        StringBuilder text =
                new StringBuilder("| scenario | figure | target | measured | |\n|---|---|---:|---:|---|\n");
        for (Target target : Target.ALL) {
            if (results.containsKey(target.scenario())) {
                text.append(Markdown.row(
                        target.scenario().title(),
                        target.title(),
                        (target.bound() == Target.Bound.AT_LEAST ? "≥ " : "≤ ") + number(target.value()),
                        target.measured(results).map(Report::number).orElse("-"),
                        target.measured(results)
                                .map(value -> target.isMetBy(value) ? "met" : "missed")
                                .orElse("not measured")));
            }
        }
        return text.toString();
    }

    /** One scenario's table. */
    static String section(Scenario scenario, List<Result> results) {
        StringBuilder text = new StringBuilder("## " + scenario.title() + "\n\n");
        text.append(
                "| | turns/s | / raw | / RLock | p50 µs | p99 µs | max µs | longest read µs | Jain | commands | messages | client µs | Redis µs |\n");
        text.append("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
        for (Result result : results) {
            text.append(
                    result.hasFailed()
                            ? "| " + result.contender().name() + " | failed: " + result.failure() + " ||||||||||||\n"
                            : row(result, results));
        }
        return text.toString();
    }

    private static String row(Result result, List<Result> all) {
        double speed = result.median(Measurement::turnsPerSecond);
        Load load = result.scenario().load();
        boolean hasWriter = load.kind() == Load.Kind.WRITER;
        boolean fairnessMeans = result.scenario().isContended() && !load.isVirtual() && !hasWriter;
        return Markdown.row(
                result.contender().name(),
                number(speed),
                ratio(speed, all, Contenders.RAW),
                ratio(speed, all, Contenders.RLOCK),
                number(result.median(Measurement::median)),
                number(result.median(Measurement::p99)),
                number(result.max(Measurement::longest)),
                hasWriter ? number(result.max(Measurement::longestHold)) : "",
                fairnessMeans ? number(result.median(Measurement::fairness)) : "",
                number(result.median(Measurement::commands)),
                number(result.median(Measurement::messages)),
                number(result.median(Measurement::client)),
                number(result.median(Measurement::redis)));
    }

    private static String ratio(double speed, List<Result> all, Contender base) {
        return all.stream()
                .filter(result -> result.contender() == base && !result.hasFailed())
                .map(result -> number(speed / result.median(Measurement::turnsPerSecond)))
                .findFirst()
                .orElse("");
    }

    /** Three digits that count, or a whole number. */
    private static String number(double value) {
        String pattern = value >= 100 ? "%,.0f" : value >= 10 ? "%.1f" : value >= 0.1 ? "%.2f" : "%.4f";
        return String.format(Locale.ROOT, value == 0 ? "%.0f" : pattern, value);
    }
}
