package io.github.lockboot.spec;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.LongStream;

import io.github.lockboot.engine.SpecifiedSchedule;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.util.FileSystemUtils;

import static org.assertj.core.api.Assertions.assertThat;

/** What the code does is a behaviour of the model; what it does with a broken rule is not. */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class TraceTests {

    private static final int TRACES = Integer.getInteger("traces", 300);

    /**
     * So many schedules are looked through for some in which a mutant does anything else than the library, and so many
     * of those are judged at a time, until one is rejected.
     */
    private static final int LOOKED_THROUGH = 3_000;

    private static final int JUDGED = 60;

    private static final long NOT_RANDOM = SpecifiedSchedule.OLDER_ANSWER;

    /**
     * What others show: {@link AcknowledgedTraceTests} the rules of the connection, {@link RedisTraceTests} the three
     * that matter so rarely.
     */
    private static final Set<String> UNSEEN =
            Set.of("renew-unacknowledged", "wait-elsewhere", "queue-holder", "reacquire-kind", "transfer-unnumbered");

    /** What traces have to reach: each action of the model that a line stands for, in each situation. */
    private static final List<String> SITUATIONS = List.of(
            "receive busy, waiting",
            "receive gone, waiting",
            "receive notowner, over",
            "receive owner, held, of an older grant",
            "receive owner, held, of this grant",
            "receive owner, over",
            "receive owner, waiting",
            "receive push, over",
            "receive push, waiting",
            "receive push, waiting, taken",
            "receive queued, held",
            "receive queued, over",
            "receive queued, waiting",
            "receive renewed, held",
            "receive renewed, over",
            "run acquire, reply busy",
            "run acquire, reply owner",
            "run acquire, reply queued",
            "run downgrade, reply none",
            "run downgrade, reply notowner",
            "run renew, reply notowner",
            "run renew, reply renewed",
            "run transfer, reply gone",
            "run transfer, reply none",
            "run transfer, reply owner",
            "run unlock, reply none",
            "run unlock, reply owner",
            "run unlock, reply queued");

    private static final List<String> STEPS = List.of(
            "begin",
            "crash",
            "downgrade",
            "end",
            "forget",
            "gone",
            "hand over",
            "hint",
            "join",
            "lost",
            "next",
            "over",
            "owns",
            "part",
            "pass on",
            "poll",
            "push",
            "receive",
            "renew",
            "run",
            "take over",
            "tick",
            "unlock");

    private static final Pattern REACHED = Pattern.compile("(?m)^trace (\\d+) reached (\\d+)$");
    private static final Pattern COVERED = Pattern.compile("(?m)^covered (\\d+): (.*)$");

    @TempDir
    private Path work;

    private static final ClassLoader LIBRARY = TraceTests.class.getClassLoader();

    private static RedisServer server;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** Those that {@code -Dmutants} names, or all. */
    static List<String> mutants() {
        List<String> chosen = List.of(System.getProperty("mutants", "").split(","));
        return Mutant.ofModels().stream()
                .filter(name -> !UNSEEN.contains(name))
                .filter(name -> chosen.contains("") || chosen.contains(name))
                .toList();
    }

    /**
     * @param steps how often each kind of line is there
     * @param rejected the seeds of the schedules that are no behaviours, and the line up to which they are
     * @param covered how often each action was taken in each situation
     */
    private record Verdict(
            Map<String, Integer> steps, Map<Long, String> rejected, Map<String, Integer> covered, Tlc.Result result) {}

    @Test
    void whatTheEngineDoesIsABehaviourOfTheModel() throws Exception {
        Verdict engine = verdict(LIBRARY, seeds(NOT_RANDOM, TRACES - TRACES / 2 + NOT_RANDOM), false);
        report("traces of the engine", TRACES - TRACES / 2, engine);
        Verdict scripts = verdict(LIBRARY, seeds(TRACES - TRACES / 2, TRACES), true);
        report("traces of the engine and the scripts", TRACES / 2, scripts);
        Set<String> covered = new TreeSet<>();
        Set<String> steps = new TreeSet<>();
        for (Verdict each : List.of(engine, scripts)) {
            assertThat(each.result.violated()).as(each.result.output()).isEmpty();
            assertThat(each.rejected).isEmpty();
            covered.addAll(each.covered.keySet());
            steps.addAll(each.steps.keySet());
        }
        assertThat(covered).containsAll(SITUATIONS);
        assertThat(steps).containsExactlyElementsOf(STEPS);
    }

    private static List<Long> seeds(long first, long end) {
        return LongStream.range(first, end).boxed().toList();
    }

    private static void report(String what, int traces, Verdict verdict) {
        int steps = verdict.steps.values().stream().mapToInt(Integer::intValue).sum();
        System.out.printf(
                "%d %s, %d steps: %d rejected; %s%n",
                traces, what, steps, verdict.rejected.size(), verdict.result.figures());
        verdict.covered.forEach((situation, times) -> System.out.printf("%9d  %s%n", times, situation));
    }

    @ParameterizedTest
    @MethodSource("mutants")
    void aBrokenRuleIsNoBehaviourOfTheModel(String name) throws Exception {
        ClassLoader mutant = Mutant.of(name).loader();
        long seed = NOT_RANDOM;
        int judged = 0;
        Verdict verdict;
        do {
            List<Long> seeds = new ArrayList<>();
            for (; seeds.size() < JUDGED && seed < LOOKED_THROUGH; seed++) {
                if (!trace(mutant, seed, false).equals(trace(LIBRARY, seed, false))) {
                    seeds.add(seed);
                }
            }
            verdict = verdict(mutant, seeds, true);
            judged += seeds.size();
        } while (verdict.rejected.isEmpty() && seed < LOOKED_THROUGH);
        System.out.printf("%s: %d of %d rejected, from %d schedules", name, verdict.rejected.size(), judged, seed);
        verdict.rejected.entrySet().stream()
                .findFirst()
                .ifPresent(each -> System.out.printf("; schedule %d at %s", each.getKey(), each.getValue()));
        System.out.println();
        assertThat(verdict.rejected).isNotEmpty();
    }

    /** @param scripts whether the scripts themselves run, on a real Redis */
    @SuppressWarnings("unchecked")
    private static List<String> trace(ClassLoader loader, long seed, boolean scripts) throws Exception {
        Class<?> schedule = loader.loadClass("io.github.lockboot.engine.SpecifiedSchedule");
        return (List<String>)
                (scripts
                        ? schedule.getMethod("trace", long.class, int.class).invoke(null, seed, server.port())
                        : schedule.getMethod("trace", long.class).invoke(null, seed));
    }

    private Verdict verdict(ClassLoader loader, List<Long> seeds, boolean scripts) throws Exception {
        Path folder = work.resolve("traces");
        FileSystemUtils.deleteRecursively(folder);
        Files.createDirectory(folder);
        List<List<String>> seen = new ArrayList<>();
        for (long seed : seeds) {
            List<String> trace = trace(loader, seed, scripts);
            seen.add(trace);
            Files.write(folder.resolve("%06d.trace".formatted(seed)), trace);
        }
        return judge(seeds, Trace.of(seen));
    }

    private Verdict judge(List<Long> seeds, List<Object> traces) {
        Tlc.Result result = Tlc.check(Path.of("").toAbsolutePath(), "Trace.tla", "Trace.cfg", work);
        Map<Integer, Integer> reached = new TreeMap<>();
        for (MatchResult each : results(REACHED, result.output())) {
            reached.put(Integer.valueOf(each.group(1)), Integer.valueOf(each.group(2)));
        }
        assertThat(reached).as(result.output()).isNotEmpty();
        Map<Long, String> rejected = new TreeMap<>();
        Map<String, Integer> steps = new TreeMap<>();
        for (int i = 1; i <= traces.size(); i++) {
            List<?> lines = (List<?>) ((Map<?, ?>) traces.get(i - 1)).get("lines");
            lines.forEach(line -> steps.merge((String) ((Map<?, ?>) line).get("k"), 1, Integer::sum));
            int line = reached.getOrDefault(i, 1);
            if (line <= lines.size()) {
                rejected.put(seeds.get(i - 1), "line " + line + " of " + lines.size() + ": " + lines.get(line - 1));
            }
        }
        Map<String, Integer> covered = new TreeMap<>();
        for (MatchResult each : results(COVERED, result.output())) {
            covered.put(each.group(2), Integer.valueOf(each.group(1)));
        }
        return new Verdict(steps, rejected, covered, result);
    }

    private static List<MatchResult> results(Pattern pattern, String text) {
        return pattern.matcher(text).results().toList();
    }
}
