package io.github.lockboot.spec;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import tlc2.TLC;

/** TLC, the model checker, in a process of its own. */
final class Tlc {

    private static final Pattern VIOLATED = Pattern.compile(
            "Error: (?:Invariant|Action property) (\\S+) is violated|Error: (Temporal properties) were");
    private static final Pattern STATE = Pattern.compile("(?m)^State \\d+: (?!Stuttering)");
    private static final Pattern FIGURES =
            Pattern.compile("(?m)^(\\d+ states generated.*|The depth of the complete.*|Finished in .*)$");

    private Tlc() {}

    /**
     * What TLC said.
     *
     * @param violated the property with a counterexample; empty if there is none
     * @param length states of the counterexample
     * @param figures states, depth, time
     */
    record Result(String violated, int length, String figures, String output) {}

    /**
     * Checks a module with a configuration; both are files of the folder. Traces are in {@code traces} under the work
     * folder.
     *
     * @throws IllegalStateException if TLC stops for another reason than a property, such as an expression that it
     *     cannot evaluate
     */
    static Result check(Path folder, String module, String configuration, Path work, String... options) {
        Path ownModules = work.resolve("modules"); // TLC unpacks its modules there, and removes them at its end
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseParallelGC",
                "-Xmx3g",
                "-Djava.io.tmpdir=" + ownModules,
                "-Dtraces=" + work.resolve("traces"),
                "-cp",
                System.getProperty("java.class.path"),
                TLC.class.getName(),
                "-config",
                configuration,
                "-metadir",
                work.resolve("states").toString()));
        command.addAll(List.of(options));
        command.add(module);
        Path log = work.resolve("tlc.log");
        try {
            Files.createDirectories(ownModules);
            Process process = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            try {
                process.waitFor();
            } finally {
                process.destroyForcibly();
            }
            return parse(Files.readString(log));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    private static Result parse(String output) {
        Matcher violated = VIOLATED.matcher(output);
        String property = "";
        if (violated.find()) {
            property = violated.group(1) == null ? violated.group(2) : violated.group(1);
        }
        if (property.isEmpty() && output.contains("Error: ")) {
            throw new IllegalStateException(output);
        }
        int length = (int) STATE.matcher(output).results().count();
        List<String> figures =
                FIGURES.matcher(output).results().map(r -> r.group(1)).toList();
        return new Result(property, length, String.join(" ", figures), output);
    }
}
