package io.github.lockboot.spec;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisBinary;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** What the scripts do in a real Redis, for real processes under faults, is what the model says of them. */
class RedisTraceTests {

    private static final Path RECORDED = Path.of("target", "redis-traces");
    private static final int LOCKS = 4;

    /** At least so many scripts run before a fault, and after it. */
    private static final int RUNS = 250;

    /** Fleets with a broken script, of which one has to show it. */
    private static final int TRIES = 8;

    private static final Duration OVER_A_LEASE = Duration.ofMillis(2_500);
    private static final Pattern REACHED = Pattern.compile("(?m)^trace (\\d+) reached (\\d+)$");

    private static final Map<String, Consumer<Scene>> FAULTS = new LinkedHashMap<>();

    static {
        FAULTS.put("none", scene -> {});
        FAULTS.put("process-killed", scene -> scene.fleet.replace(0));
        FAULTS.put("process-stopped", scene -> {
            scene.fleet.member(1).signal("STOP");
            scene.awaitPassed(OVER_A_LEASE);
            scene.fleet.member(1).signal("CONT");
        });
        FAULTS.put("all-stopped", scene -> {
            scene.fleet.signal("STOP");
            scene.awaitPassed(OVER_A_LEASE);
            scene.fleet.signal("CONT");
        });
        FAULTS.put("connections-cut", scene -> {
            for (int i = 0; i < 6; i++) {
                scene.fleet.member(i % 3).proxy().cut();
                scene.awaitRuns(40);
            }
        });
        FAULTS.put("network-slow", scene -> {
            scene.fleet.member(0).proxy().delay(Duration.ofMillis(150));
            scene.awaitRuns(200);
            scene.fleet.member(0).proxy().pass();
        });
        FAULTS.put("replies-lost", scene -> {
            scene.fleet.member(1).proxy().swallowReplies();
            scene.awaitPassed(OVER_A_LEASE);
            scene.fleet.member(1).proxy().pass();
        });
        FAULTS.put("messages-lost", scene -> {
            scene.fleet.member(2).proxy().muteSubscriptions();
            scene.awaitRuns(200);
            scene.fleet.member(2).proxy().pass();
        });
        FAULTS.put("data-lost", scene -> scene.server.command("FLUSHALL"));
        FAULTS.put("scripts-lost", scene -> scene.server.command("SCRIPT", "FLUSH"));
        FAULTS.put(StrayCalls.NAME, scene -> {});
    }

    @TempDir
    private Path work;

    private record Scene(String name, RedisServer server, Monitor monitor, Fleet fleet) {

        void awaitRuns(int more) {
            monitor.awaitRuns(name, more);
        }

        void awaitPassed(Duration time) {
            long end = millis() + time.toMillis();
            Await.until(time + " passed", () -> millis() >= end);
        }

        private long millis() {
            List<?> time = (List<?>) server.command("TIME");
            return Long.parseLong((String) time.get(0)) * 1_000 + Long.parseLong((String) time.get(1)) / 1_000;
        }

        void suffer(Consumer<Scene> fault, int runs) {
            fleet.use(IntStream.rangeClosed(1, LOCKS)
                    .mapToObj(number -> name + "-" + number)
                    .toList());
            awaitRuns(runs);
            fault.accept(this);
            awaitRuns(runs);
        }
    }

    private record Verdict(int traces, Map<String, Long> steps, List<String> rejected) {}

    @Test
    void whatRedisDoesIsABehaviourOfTheModel() throws IOException {
        Verdict verdict = verdict("faults", System.getProperty("java.class.path"), 3, FAULTS);
        assertThat(verdict.rejected).isEmpty();
        assertThat(verdict.traces).isGreaterThanOrEqualTo(FAULTS.size() * LOCKS);
        assertThat(verdict.steps)
                .containsKeys(
                        "acquire", "unlock", "unlock with next", "renew", "renew-permits", "downgrade", "transfer")
                .containsKeys("gone surely");
    }

    /** The clock of such a script is known by the fence that it leaves. Recorded from one of the fleets above. */
    @Test
    void aGrantThatIsTakenBackAtOnceIsABehaviourOfTheModel() throws IOException {
        assertThat(verdictOnRecorded("taken-back-at-once").rejected).isEmpty();
    }

    /** Nothing has become free: it was passed over and fits. */
    @Test
    void aGrantToAWaiterThatWasPassedOverAndLeavesIsABehaviourOfTheModel() throws IOException {
        assertThat(verdictOnRecorded("taken-back-after-passed-over").rejected).isEmpty();
    }

    /** It is not granted the lock before, so the clock is that of the grant to the next. */
    @Test
    void aWaiterThatIsDroppedWhenItLeavesIsABehaviourOfTheModel() throws IOException {
        assertThat(verdictOnRecorded("dropped-when-it-leaves").rejected).isEmpty();
    }

    /** Not those that so few calls show by chance only; schedules show them ({@link TraceTests}). */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "admit-any-kind",
                "downgrade-reopens",
                "downgrade-untold",
                "overtake",
                "permit-unreserved",
                "queue-holder",
                "reacquire-kind",
                "reacquire-unrenewed",
                "reader-own-token",
                "release-by-client",
                "renew-unfenced",
                "transfer-twice",
                "transfer-unnumbered",
                "unlock-all"
            })
    void aBrokenScriptIsNoBehaviourOfTheModel(String mutant) throws IOException {
        Map<String, Consumer<Scene>> fault = Map.of(StrayCalls.NAME, FAULTS.get("none"));
        List<String> rejected = List.of();
        for (int tries = 0; rejected.isEmpty() && tries < TRIES; tries++) {
            rejected = verdict(mutant, Mutant.of(mutant).classPath(), 2, fault).rejected;
        }
        assertThat(rejected).isNotEmpty();
    }

    private Verdict verdict(String name, String classPath, int processes, Map<String, Consumer<Scene>> faults)
            throws IOException {
        List<String> monitored = new ArrayList<>();
        try (RedisServer server =
                        RedisServer.builder().binary(RedisBinary.find()).start();
                Monitor monitor = new Monitor(server)) {
            try (Fleet fleet = new Fleet(server, classPath, processes)) {
                faults.forEach((key, fault) -> new Scene(key, server, monitor, fleet).suffer(fault, RUNS));
                monitored.addAll(fleet.scripts());
            }
            monitored.addAll(monitor.all());
        }
        return verdict(name, monitored);
    }

    private Verdict verdictOnRecorded(String name) throws IOException {
        return verdict(name, Files.readAllLines(Path.of("src/test/resources", name + ".monitor")));
    }

    private Verdict verdict(String name, List<String> monitored) throws IOException {
        Files.createDirectories(RECORDED);
        Files.write(RECORDED.resolve(name + ".monitor"), monitored);
        Files.write(Files.createDirectories(work.resolve("traces")).resolve(name + ".monitor"), monitored);
        Tlc.Result result = Tlc.check(Path.of("").toAbsolutePath(), "RedisTrace.tla", "RedisTrace.cfg", work);
        assertThat(result.violated()).as(result.output()).isEmpty();
        List<RedisTrace> traces = RedisTrace.of(monitored);
        List<String> rejected = new ArrayList<>();
        for (MatchResult each : REACHED.matcher(result.output()).results().toList()) {
            int number = Integer.parseInt(each.group(1));
            int line = Integer.parseInt(each.group(2));
            RedisTrace trace = traces.get(number - 1);
            if (line <= trace.lines().size()) {
                rejected.add("trace " + number + ", line " + line + " of "
                        + trace.lines().size() + ": " + trace.lines().get(line - 1));
            }
        }
        assertThat(result.output()).contains("trace " + traces.size() + " reached");
        Map<String, Long> steps = traces.stream()
                .flatMap(trace -> trace.lines().stream())
                .collect(Collectors.groupingBy(RedisTrace::step, TreeMap::new, Collectors.counting()));
        System.out.printf(
                "%s: %d traces, %d runs of scripts: %d rejected; %s; %s%n",
                name,
                traces.size(),
                traces.stream().mapToInt(RedisTrace::runs).sum(),
                rejected.size(),
                steps,
                result.figures());
        return new Verdict(traces.size(), steps, rejected);
    }
}
