package io.github.lockboot.spec;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

import static org.junit.platform.engine.discovery.ClassNameFilter.excludeClassNamePatterns;
import static org.junit.platform.engine.discovery.ClassNameFilter.includeClassNamePatterns;
import static org.junit.platform.launcher.TagFilter.excludeTags;

/**
 * Tells which tests of the library notice a mutant: those of the engine and of the scripts that fail on it, or if none
 * does, those on a real Redis. Each mutant has a process of its own.
 */
final class NoticedBy {

    private static final Path WORK = Path.of("target", "mutants");
    private static final int MOST_MINUTES = 3;

    /** In place of a mutant: the library as it is, which no test must notice. */
    private static final String NONE = "none";

    private NoticedBy() {}

    /** @param names of mutants, or none for all */
    public static void main(String[] names) throws Exception {
        for (String name : names.length == 0 ? Mutant.names() : List.of(names)) {
            System.out.println(name + ": " + testsThatFail(name));
        }
    }

    private static TreeSet<String> testsThatFail(String name) throws IOException, InterruptedException {
        Mutant mutant = name.equals(NONE) ? null : Mutant.of(name);
        boolean ofConnections =
                mutant != null && Files.exists(mutant.folder().resolve("io/github/lockboot/redis/connection"));
        Files.createDirectories(WORK);
        Path failures = Files.write(WORK.resolve(name + ".failures"), List.of());
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                mutant == null ? System.getProperty("java.class.path") : mutant.classPath(),
                Tests.class.getName(),
                failures.toString(),
                "RedisLockTests",
                "DoubtedHoldTests",
                "KindCountTests",
                "RedisLockListenerTests",
                "fleet.FairnessTests",
                "fleet.FencingTokenTests",
                "fleet.GrantRaceTests"));
        if (ofConnections) {
            command.add("AcknowledgeTests");
        }
        Process tests = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(WORK.resolve(name + ".log").toFile())
                .start();
        boolean ended = tests.waitFor(MOST_MINUTES, TimeUnit.MINUTES);
        tests.destroy(); // ends its servers, too
        TreeSet<String> classes = new TreeSet<>();
        Files.readAllLines(failures).forEach(line -> classes.add(line.split(" ")[0]));
        if (!ended) {
            classes.add("(not all ended)");
        }
        return classes;
    }

    /** The tests, on the library that comes first on the class path. */
    static final class Tests {

        private static final String LIBRARY = "io.github.lockboot.";
        private static final String PACKAGE = LIBRARY + "redis.";

        private Tests() {}

        /** @param args a file that gets a line for each failure, and classes that run if all others have passed */
        public static void main(String[] args) throws IOException {
            Path failures = Path.of(args[0]);
            run(
                    failures,
                    false,
                    List.of(
                            DiscoverySelectors.selectPackage(LIBRARY + "engine"),
                            DiscoverySelectors.selectPackage(PACKAGE + "protocol")));
            if (Files.size(failures) == 0) {
                run(
                        failures,
                        true,
                        Arrays.stream(args)
                                .skip(1)
                                .map(name -> DiscoverySelectors.selectClass(PACKAGE + name))
                                .toList());
            }
            System.exit(0);
        }

        /** @param waiting whether they mostly wait, so that they run side by side */
        private static void run(Path failures, boolean waiting, List<? extends DiscoverySelector> selectors) {
            LauncherFactory.create()
                    .execute(
                            LauncherDiscoveryRequestBuilder.request()
                                    .selectors(selectors)
                                    .filters(includeClassNamePatterns(".*Tests"))
                                    // Takes longer than all others, and is about what is thrown.
                                    .filters(excludeClassNamePatterns(".*ThrownAnywhereTests"))
                                    .filters(excludeTags("full"))
                                    .configurationParameter("junit.jupiter.execution.timeout.default", "30 s")
                                    // Because what waits may not heed an interrupt.
                                    .configurationParameter(
                                            "junit.jupiter.execution.timeout.thread.mode.default", "SEPARATE_THREAD")
                                    .configurationParameter(
                                            "junit.jupiter.execution.parallel.enabled", Boolean.toString(waiting))
                                    .configurationParameter(
                                            "junit.jupiter.execution.parallel.mode.classes.default", "concurrent")
                                    .configurationParameter("junit.jupiter.execution.parallel.config.strategy", "fixed")
                                    .configurationParameter(
                                            "junit.jupiter.execution.parallel.config.fixed.parallelism", "12")
                                    .build(),
                            new TestExecutionListener() {
                                @Override
                                public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                                    if (result.getStatus() == TestExecutionResult.Status.FAILED) {
                                        note(failures, test, result);
                                    }
                                }
                            });
        }

        private static synchronized void note(Path failures, TestIdentifier test, TestExecutionResult result) {
            String type = test.getUniqueIdObject().getSegments().stream()
                    .filter(segment -> segment.getType().equals("class"))
                    .map(UniqueId.Segment::getValue)
                    .findFirst()
                    .orElse("?");
            String why = result.getThrowable().map(Throwable::toString).orElse("");
            String line = type.substring(type.lastIndexOf('.') + 1) + " " + test.getDisplayName() + "\n";
            System.out.println(line + why);
            try {
                Files.writeString(failures, line, StandardOpenOption.APPEND);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
