package io.github.lockboot.spec;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** What the connection takes for acknowledged, with a real master and a real replica, is a behaviour of the model. */
class AcknowledgedTraceTests {

    private static final int TRACES = 6;

    private static final Pattern REACHED = Pattern.compile("(?m)^trace (\\d+) reached (\\d+)$");

    @TempDir
    private Path work;

    @Test
    void whatIsAcknowledgedIsABehaviourOfTheModel() throws Exception {
        Set<String> steps = new TreeSet<>();
        for (long seed = 0; seed < TRACES; seed++) {
            List<String> trace = trace(AcknowledgedTraceTests.class.getClassLoader(), seed);
            assertThat(rejected(trace)).isEmpty();
            trace.forEach(line -> steps.add(line.replaceAll(" [ab]$", "")));
        }
        assertThat(steps)
                .containsExactly("believes", "fail over", "gives up", "go", "grant", "hold", "release", "renew");
    }

    @ParameterizedTest
    @ValueSource(strings = {"renew-unacknowledged", "wait-elsewhere"})
    void aBrokenRuleIsNoBehaviourOfTheModel(String mutant) throws Exception {
        ClassLoader loader = Mutant.of(mutant).loader();
        List<String> rejected = new ArrayList<>();
        for (long seed = 0; rejected.isEmpty() && seed < TRACES; seed++) {
            rejected.addAll(rejected(trace(loader, seed)));
        }
        System.out.println(mutant + ": rejected at " + rejected);
        assertThat(rejected).isNotEmpty();
    }

    @SuppressWarnings("unchecked")
    private static List<String> trace(ClassLoader loader, long seed) throws Exception {
        return (List<String>) loader.loadClass("io.github.lockboot.redis.connection.AcknowledgedSchedule")
                .getMethod("trace", long.class)
                .invoke(null, seed);
    }

    /** The lines with which a trace is no behaviour any more. */
    private List<String> rejected(List<String> trace) throws IOException {
        Files.write(Files.createDirectories(work.resolve("traces")).resolve("one.acknowledged"), trace);
        Tlc.Result result =
                Tlc.check(Path.of("").toAbsolutePath(), "AcknowledgedTrace.tla", "AcknowledgedTrace.cfg", work);
        assertThat(result.violated()).as(result.output()).isEmpty();
        List<MatchResult> reached = REACHED.matcher(result.output()).results().toList();
        assertThat(reached).as(result.output()).hasSize(1);
        int line = Integer.parseInt(reached.get(0).group(2));
        return line > trace.size() ? List.of() : List.of("line " + line + " of " + trace);
    }
}
