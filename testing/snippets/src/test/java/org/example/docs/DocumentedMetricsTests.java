package org.example.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import com.jayway.jsonpath.JsonPath;
import io.github.lockboot.ScheduledLock;
import io.github.lockboot.memory.MemoryLockRegistry;
import io.github.lockboot.observability.LockMetrics;
import io.github.lockboot.observability.LockObservations;
import io.micrometer.common.KeyValue;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Names of metrics in the documentation and in the dashboard are those that Prometheus gets. */
class DocumentedMetricsTests {

    private static final Path DASHBOARD = Page.ROOT.resolve("docs/grafana-dashboard.json");
    private static final Path DOCUMENT = Page.ROOT.resolve("docs/operations.md");

    private final PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    /** From then on all meters are there. */
    @BeforeEach
    void useALock() throws Exception {
        MemoryLockRegistry locks = new MemoryLockRegistry();
        LockMetrics metrics = new LockMetrics(prometheus);
        locks.addListener(metrics);
        locks.acquire("a").close();
        metrics.jobEnded(new ScheduledLock.Run(
                "nightly", Instant.EPOCH, Duration.ZERO, "scheduling-1", ScheduledLock.Outcome.RAN, false));
    }

    /** As the auto-configuration makes it. */
    private void lead() {
        Gauge.builder("lock.leader", () -> 1).tag("role", "a").register(prometheus);
    }

    private Set<String> meters() {
        return prometheus.getMeters().stream()
                .map(meter -> meter.getId().getName())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private Set<String> scraped() {
        return find("(?m)^(lock_\\w+)", prometheus.scrape());
    }

    private static Set<String> find(String pattern, String text) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map((MatchResult found) -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void everyMetricOfTheDashboardExistsAndAllMetersAreOnIt() throws IOException {
        lead();
        List<String> expressions = JsonPath.parse(DASHBOARD.toFile()).read("$.panels[*].targets[*].expr");
        Set<String> used = find("\\b(lock_\\w+)", String.join(" ", expressions));
        assertThat(scraped()).containsAll(used);
        assertThat(meters().stream().map(meter -> meter.replace('.', '_')))
                .isNotEmpty()
                .allMatch(start -> used.stream().anyMatch(name -> name.startsWith(start)));
        List<String> variables = JsonPath.parse(DASHBOARD.toFile()).read("$.templating.list[*].query.query");
        assertThat(scraped()).containsAll(find("\\b(lock_\\w+)", String.join(" ", variables)));
    }

    /**
     * Prometheus gives what it scrapes the labels {@code job} and {@code instance}, and renames those that the metric
     * has itself.
     */
    @Test
    void theDashboardAsksForLabelsThatAMetricHasAfterAScrape() throws IOException {
        lead();
        List<String> expressions = JsonPath.parse(DASHBOARD.toFile()).read("$.panels[*].targets[*].expr");
        assertThat(expressions).isNotEmpty().allSatisfy(expression -> {
            Set<String> asked = find("(?:by \\(|, )(\\w+)(?=[,)])", expression);
            asked.addAll(find("[{,](\\w+)=", expression));
            for (String metric : find("\\b(lock_\\w+)", expression)) {
                Set<String> labels = labelsOf(metric);
                assertThat(labels).doesNotContain("job", "instance", "le", "quantile");
                labels.addAll(Set.of("instance", "application")); // of Prometheus, and of management.metrics.tags
                assertThat(labels).containsAll(asked);
            }
        });
        List<String> legends = JsonPath.parse(DASHBOARD.toFile()).read("$.panels[*].targets[*].legendFormat");
        for (int i = 0; i < legends.size(); i++) {
            String kept = String.join(", ", find("by \\(([^)]+)\\)", expressions.get(i)));
            assertThat(Set.of(kept.split(", "))).containsAll(find("\\{\\{(\\w+)}}", legends.get(i)));
        }
    }

    private Set<String> labelsOf(String metric) {
        return find("(\\w+)=\"", String.join(" ", find("(?m)^" + metric + "\\{(.*)}", prometheus.scrape())));
    }

    @Test
    void theDocumentNamesEveryMeterAndNoOther() throws IOException {
        String rows = rowsOf("| meter |");
        assertThat(find("(?m)^\\| `(lock\\.[a-z.]+)`", rows)).isEqualTo(meters());
        Set<String> scraped = scraped();
        assertThat(find("\\| `(lock_\\w+)`", rows))
                .hasSameSizeAs(meters())
                .allSatisfy(name ->
                        assertThat(scraped).anyMatch(known -> known.equals(name) || known.equals(name + "_sum")));
    }

    @Test
    void theDocumentNamesEveryObservationAndItsKeys() throws Exception {
        Map<String, Set<String>> observed = new TreeMap<>();
        ObservationRegistry observations = ObservationRegistry.create();
        observations.observationConfig().observationHandler(new ObservationHandler<>() {
            @Override
            public void onStop(Observation.Context context) {
                observed.put(
                        context.getName(),
                        context.getAllKeyValues().stream().map(KeyValue::getKey).collect(Collectors.toSet()));
            }

            @Override
            public boolean supportsContext(Observation.Context context) {
                return true;
            }
        });
        MemoryLockRegistry locks = new MemoryLockRegistry();
        locks.addListener(new LockObservations(observations));
        locks.acquire("a").close();

        Map<String, Set<String>> documented = new TreeMap<>();
        rowsOf("| observation |")
                .lines()
                .filter(row -> row.startsWith("| `"))
                .forEach(row -> documented.put(
                        row.split("`")[1],
                        find("`(lock\\.[a-z]+|error\\.type)`", row.substring(row.lastIndexOf('|', row.length() - 3)))));
        assertThat(documented).isEqualTo(observed);
    }

    private static String rowsOf(String header) throws IOException {
        return Files.readString(DOCUMENT)
                .lines()
                .dropWhile(line -> !line.startsWith(header))
                .takeWhile(line -> line.startsWith("|"))
                .collect(Collectors.joining("\n"));
    }
}
