package io.github.lockboot.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

import io.github.lockboot.harness.Contender;
import io.github.lockboot.harness.Markdown;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Writes results as Markdown tables, as JSON and as charts. */
final class Report {

    private final Map<Scenario, List<Result>> results;
    private final Setting setting;

    Report(Map<Scenario, List<Result>> results, Setting setting) {
        this.results = results;
        this.setting = setting;
    }

    /** Writes the tables, the raw figures and the charts, and the targets into the README, in the module's folder. */
    void write(Path module) throws IOException {
        Path folder = Files.createDirectories(module.resolve("results"));
        Files.writeString(folder.resolve("results.md"), all());
        Files.writeString(folder.resolve("results.json"), json() + "\n");
        Files.writeString(folder.resolve("chart.svg"), Chart.of(results));
        Files.writeString(folder.resolve("headline.svg"), Chart.headlineOf(results));
        Path readme = module.resolve("README.md");
        Files.writeString(
                readme, Markdown.replaced(Files.readString(readme), "results", setting.text() + "\n" + targets()));
    }

    private String all() {
        StringBuilder text = new StringBuilder("# Results\n\n").append(setting.text());
        results.forEach((scenario, of) -> text.append("\n").append(section(scenario, of)));
        return text.append("\n## Targets\n\n").append(targets()).toString();
    }

    /** What was aimed at and what was reached. */
    String targets() {
        StringBuilder text =
                new StringBuilder("| scenario | figure | target | measured | |\n|---|---|---:|---:|---|\n");
        for (Target target : Target.ALL) {
            if (results.containsKey(target.scenario())) {
                Optional<Figure> measured = target.measured(results);
                text.append(Markdown.row(
                        target.scenario().title(),
                        target.title(),
                        (target.bound() == Target.Bound.AT_LEAST ? "≥ " : "≤ ") + Figure.number(target.value()),
                        measured.map(target::measured).orElse("-"),
                        measured.map(target::verdict).orElse("not measured")));
            }
        }
        return text.toString();
    }

    /** One scenario's table: of each figure the median over the rounds and, below it, the lowest and the highest. */
    static String section(Scenario scenario, List<Result> results) {
        StringBuilder text = new StringBuilder("## " + scenario.title() + "\n\n");
        results.stream()
                .filter(result -> result.load().isOpen())
                .findFirst()
                .ifPresent(result -> text.append(String.format(
                        Locale.ROOT,
                        "%,d turns a second are due. Waiting counts from when a turn was due.%n%n",
                        result.load().perSecond())));
        text.append(
                "| | turns/s | / raw | / RLock | p50 µs | p99 µs | max µs | longest read µs | Jain | commands | messages | client µs | Redis µs |\n");
        text.append("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
        for (Result result : results) {
            text.append(
                    result.hasFailed()
                            ? "| " + result.contender().name() + " | failed: " + result.failure() + "; settings: "
                                    + result.contender().settings() + " ||||||||||||\n"
                            : row(result, results));
        }
        return text.toString();
    }

    private static String row(Result result, List<Result> all) {
        boolean hasWriter = result.load().kind() == Load.Kind.WRITER;
        boolean fairnessMeans =
                result.scenario().isContended() && !result.load().isVirtual() && !hasWriter;
        return Markdown.row(
                result.contender().name(),
                result.figure(Measurement::turnsPerSecond).toString(),
                ratio(result, all, Contenders.RAW),
                ratio(result, all, Contenders.RLOCK),
                result.figure(Measurement::median).toString(),
                result.figure(Measurement::p99).toString(),
                Figure.number(result.figure(Measurement::longest).max()),
                hasWriter
                        ? Figure.number(result.figure(Measurement::longestHold).max())
                        : "",
                fairnessMeans ? result.figure(Measurement::fairness).toString() : "",
                result.figure(Measurement::commands).toString(),
                result.figure(Measurement::messages).toString(),
                result.figure(Measurement::client).toString(),
                result.figure(Measurement::redis).toString());
    }

    private static String ratio(Result result, List<Result> all, Contender base) {
        return all.stream()
                .filter(other -> other.contender() == base && !other.hasFailed())
                .map(other -> result.figure(Measurement::turnsPerSecond, other).toString())
                .findFirst()
                .orElse("");
    }

    /** Every round as it was measured. */
    private String json() {
        Map<String, Object> scenarios = new LinkedHashMap<>();
        results.forEach((scenario, of) ->
                scenarios.put(scenario.id(), of.stream().map(Report::json).toList()));
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("setting", setting);
        all.put("scenarios", scenarios);
        return JsonMapper.builder()
                .enable(SerializationFeature.INDENT_OUTPUT)
                .build()
                .writeValueAsString(all);
    }

    private static Map<String, Object> json(Result result) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", result.contender().name());
        fields.put("settings", result.contender().settings());
        fields.put("dueTurnsPerSecond", result.load().perSecond());
        fields.put("failure", result.failure());
        fields.put("rounds", result.rounds());
        return fields;
    }
}
