package org.example.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockboot.memory.MemoryLockRegistry;
import io.github.lockboot.observability.LockMetrics;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** docs/alerts.yml asks for what a scrape has, and fires when it should. */
class AlertsTests {

    private static final Path RULES = Page.ROOT.resolve("docs/alerts.yml");
    private static final Path CASES = Page.ROOT.resolve("testing/snippets/src/test/resources/alerts-tests.yml");
    private static final Pattern NAME = Pattern.compile("\\b(lock_\\w+)");
    private static final Pattern LABELS = Pattern.compile("(?:by|on) \\(([^)]+)\\)|[{,](\\w+)(?:=|!)");

    /** The label that is made, and the one that it is made of. */
    private static final Pattern MADE = Pattern.compile("label_replace\\(.*, \"(\\w+)\", \"[^\"]*\", \"(\\w+)\", ");

    @TempDir
    private Path folder;

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> rules() throws IOException {
        Map<String, Object> file = new Yaml(new SafeConstructor(new LoaderOptions())).load(Files.readString(RULES));
        List<Map<String, Object>> groups = (List<Map<String, Object>>) file.get("groups");
        assertThat(groups).hasSize(1);
        return (List<Map<String, Object>>) groups.get(0).get("rules");
    }

    private static String scrape() throws Exception {
        PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        try (MemoryLockRegistry locks = new MemoryLockRegistry()) {
            locks.addListener(new LockMetrics(prometheus));
            locks.acquire("a").close();
        }
        // As the auto-configuration makes it.
        Gauge.builder("lock.leader", () -> 1).tag("role", "a").register(prometheus);
        return prometheus.scrape();
    }

    @Test
    void everyMetricAndLabelOfARuleIsInAScrape() throws Exception {
        String scrape = scrape();
        assertThat(rules()).hasSize(7);
        assertThat(rules().stream().flatMap(AlertsTests::parts)).allSatisfy(part -> {
            Set<String> metrics = found(NAME, part);
            assertThat(metrics).isNotEmpty().allSatisfy(metric -> {
                Set<String> labels = new TreeSet<>(Set.of("instance", "application")); // of Prometheus and of the tags
                scrape.lines()
                        .filter(line -> line.startsWith(metric + "{"))
                        .forEach(line -> labels.addAll(found(Pattern.compile("(\\w+)=\""), line)));
                assertThat(labels).hasSizeGreaterThan(2);
                Matcher made = MADE.matcher(part);
                if (made.find()) {
                    assertThat(labels).contains(made.group(2));
                    labels.add(made.group(1));
                }
                assertThat(labels).containsAll(asked(part));
            });
        });
    }

    /** Each has its own metrics. */
    private static Stream<String> parts(Map<String, Object> rule) {
        return Stream.of(rule.get("expr").toString().split(" unless "));
    }

    private static Set<String> found(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .map((MatchResult found) -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> asked(String expression) {
        return LABELS.matcher(expression)
                .results()
                .flatMap(found ->
                        found.group(1) != null ? Stream.of(found.group(1).split(", ")) : Stream.of(found.group(2)))
                .collect(Collectors.toSet());
    }

    @Test
    @SuppressWarnings("unchecked")
    void everyRuleHasASeverityTextsAndAnEntryOfThePageOfTroubles() throws IOException {
        Set<String> anchors = Set.copyOf(
                Page.read(Page.ROOT.resolve("docs/troubleshooting.md")).anchors());
        assertThat(rules()).allSatisfy(rule -> {
            assertThat(((Map<String, String>) rule.get("labels")).get("severity"))
                    .matches("critical|warning");
            Map<String, String> texts = (Map<String, String>) rule.get("annotations");
            assertThat(texts).containsOnlyKeys("summary", "description", "runbook_url");
            assertThat(anchors).contains(texts.get("runbook_url").replaceFirst(".*/docs/troubleshooting\\.md#", ""));
        });
    }

    @Test
    void promtoolAcceptsTheRulesAndTheyFireWhenTheyShould() throws Exception {
        assumeTrue(isInstalled(), "no promtool on the PATH: install the package prometheus");
        Files.copy(RULES, folder.resolve("alerts.yml"));
        Files.copy(CASES, folder.resolve("cases.yml"));
        assertThat(run("promtool", "check", "rules", "alerts.yml")).contains("SUCCESS: 7 rules found");
        assertThat(run("promtool", "test", "rules", "cases.yml")).contains("SUCCESS");
    }

    private static boolean isInstalled() {
        return Stream.of(System.getenv("PATH").split(":"))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, "promtool")));
    }

    private String run(String... command) throws Exception {
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }
}
