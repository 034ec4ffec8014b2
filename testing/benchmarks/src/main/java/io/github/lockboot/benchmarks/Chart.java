package io.github.lockboot.benchmarks;

import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.github.lockboot.harness.ThisLibrary;

/**
 * Draws speeds as horizontal bars, a group for each scenario, each group to its own scale. The chart brings its
 * background, for it takes its colours from the reader's system, and a page may be of another mind.
 */
final class Chart {

    private static final int WIDTH = 860;
    private static final int LABELS = 220;
    private static final int BARS = 480;
    private static final int ROW = 20;
    private static final int TITLE = 34;
    private static final int MARGIN = 20;

    /** What a visitor sees first: nobody in the way, where a plain loop is faster; one JVM; a fleet. */
    private static final List<Scenario> HEADLINE =
            List.of(Scenario.UNCONTENDED, Scenario.DISTINCT, Scenario.ONE_JVM, Scenario.FOUR_JVMS);

    private static final String STYLE = """
            <style>
              text { font: 13px system-ui, sans-serif; fill: #24292f }
              .title { font-weight: 600 }
              rect { fill: #9aa4af }
              .paper { fill: #ffffff }
              .ours { fill: #1a7f64 }
              @media (prefers-color-scheme: dark) {
                text { fill: #d6dde4 }
                rect { fill: #68727d }
                .paper { fill: #161b22 }
                .ours { fill: #3fb68f }
              }
            </style>
            """;

    private final StringBuilder body = new StringBuilder();
    private int y;

    private Chart() {}

    /** An SVG document of all. */
    static String of(Map<Scenario, List<Result>> results) {
        Chart chart = new Chart();
        results.forEach(chart::group);
        return chart.document();
    }

    /** An SVG document of the few scenarios that say most. */
    static String headlineOf(Map<Scenario, List<Result>> results) {
        Chart chart = new Chart();
        for (Scenario scenario : HEADLINE) {
            List<Result> measured = results.get(scenario);
            if (measured != null) {
                chart.group(scenario, measured);
            }
        }
        return chart.document();
    }

    private String document() {
        return String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"-%d 0 %1$d %2$d\" role=\"img\" "
                        + "aria-label=\"Turns per second of each contender in each scenario\">%n%s"
                        + "<rect class=\"paper\" x=\"-%3$d\" width=\"%1$d\" height=\"%2$d\" rx=\"6\"/>%n%5$s</svg>%n",
                WIDTH + 2 * MARGIN,
                y + MARGIN,
                MARGIN,
                STYLE,
                body);
    }

    private void group(Scenario scenario, List<Result> results) {
        y += y == 0 ? TITLE - 6 : TITLE;
        text(0, "title", scenario.title() + " (turns per second)");
        double most = results.stream().mapToDouble(Chart::speed).max().orElse(1);
        for (Result result : results) {
            y += ROW;
            boolean ours = result.contender() instanceof ThisLibrary;
            text(0, ours ? "title" : "", result.contender().name());
            if (result.hasFailed()) {
                text(LABELS, "", "failed");
            } else {
                double length = Math.max(1, BARS * speed(result) / most);
                body.append(String.format(
                        Locale.ROOT,
                        "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2\"%s/>%n",
                        LABELS,
                        y - ROW + 7,
                        length,
                        ROW - 5,
                        ours ? " class=\"ours\"" : ""));
                text(LABELS + (int) length + 6, "", String.format(Locale.ROOT, "%,.0f", speed(result)));
            }
        }
    }

    private static double speed(Result result) {
        return result.hasFailed()
                ? 0
                : result.figure(Measurement::turnsPerSecond).median();
    }

    private void text(int x, String kind, String text) {
        body.append(String.format(Locale.ROOT, "<text x=\"%d\" y=\"%d\" class=\"%s\">%s</text>%n", x, y, kind, text));
    }
}
