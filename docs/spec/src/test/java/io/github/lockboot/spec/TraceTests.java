package io.github.lockboot.spec;

import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/** What the code does is a behaviour of the model; what it does with a broken rule is not. */
class TraceTests {

    private static final int TRACES = Integer.getInteger("traces", 300);

    /** So many schedules of a mutant are judged. */
    private static final int TRIES = 40;

    private static final Pattern REACHED = Pattern.compile("(?m)^trace (\\d+) reached (\\d+)$");
    private static final Pattern COVERED = Pattern.compile("(?m)^covered (\\d+): (.*)$");

    @TempDir
    private Path work;

    static List<String> mutants() {
        return Mutant.names();
    }

    /** @param rejected the numbers of the traces that are no behaviours, and the line up to which they are */
    private record Verdict(int lines, Map<Integer, String> rejected, Map<String, Integer> covered, Tlc.Result result) {}

    @Test
    void whatTheEngineDoesIsABehaviourOfTheModel() throws Exception {
        Verdict verdict = verdict(TraceTests.class.getClassLoader(), TRACES);
        System.out.printf(
                "%d traces, %d steps; %d rejected; %s%n",
                TRACES, verdict.lines, verdict.rejected.size(), verdict.result.figures());
        verdict.covered.forEach((what, times) -> System.out.printf("%9d  %s%n", times, what));
        assertThat(verdict.result.violated()).as(verdict.result.output()).isEmpty();
        assertThat(verdict.rejected).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("mutants")
    void aBrokenRuleIsNoBehaviourOfTheModel(String mutant) throws Exception {
        Verdict verdict = verdict(Mutant.of(mutant).loader(), TRIES);
        String first = verdict.rejected.entrySet().stream()
                .findFirst()
                .map(each -> "trace " + each.getKey() + " at " + each.getValue())
                .orElse("");
        System.out.printf(
                "%s: %d of %d rejected; %s%s%n", mutant, verdict.rejected.size(), TRIES, verdict.result.violated(), first);
        assertThat(verdict.rejected).isNotEmpty();
    }

    private Verdict verdict(ClassLoader loader, int traces) throws Exception {
        Path folder = Files.createDirectory(work.resolve("traces"));
        Method trace = loader.loadClass("io.github.lockboot.redis.engine.SpecifiedSchedule")
                .getMethod("trace", long.class);
        List<List<String>> seen = new ArrayList<>();
        for (int seed = 0; seed < traces; seed++) {
            @SuppressWarnings("unchecked")
            List<String> lines = (List<String>) trace.invoke(null, (long) seed);
            seen.add(lines);
            Files.write(folder.resolve("%04d.trace".formatted(seed)), lines);
        }
        return judge(Trace.of(seen));
    }

    private Verdict judge(List<Object> traces) {
        Tlc.Result result = Tlc.check(Path.of("").toAbsolutePath(), "Trace.tla", "Trace.cfg", work);
        Map<Integer, Integer> reached = new TreeMap<>();
        for (MatchResult each : results(REACHED, result.output())) {
            reached.put(Integer.valueOf(each.group(1)), Integer.valueOf(each.group(2)));
        }
        assertThat(reached).as(result.output()).isNotEmpty();
        assertThat(result.output()).doesNotContain("TLC threw");
        Map<Integer, String> rejected = new TreeMap<>();
        int lines = 0;
        for (int i = 1; i <= traces.size(); i++) {
            List<?> steps = (List<?>) ((Map<?, ?>) traces.get(i - 1)).get("lines");
            int line = reached.getOrDefault(i, 1);
            lines += steps.size();
            if (line <= steps.size()) {
                rejected.put(i, "line " + line + " of " + steps.size() + ": " + steps.get(line - 1));
            }
        }
        Map<String, Integer> covered = new TreeMap<>();
        for (MatchResult each : results(COVERED, result.output())) {
            covered.put(each.group(2), Integer.valueOf(each.group(1)));
        }
        return new Verdict(lines, rejected, covered, result);
    }

    private static List<MatchResult> results(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        return matcher.results().toList();
    }
}
