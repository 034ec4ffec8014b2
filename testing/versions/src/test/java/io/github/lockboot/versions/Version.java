package io.github.lockboot.versions;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

import io.github.lockboot.engine.LockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** A version of this library. */
enum Version {

    /** The one of the commit before, or of the commit or tag that {@code -Dbefore} names. */
    BEFORE,

    /** The one of these sources. */
    TODAY,

    /** The one of these sources, with a larger number of the format of what lies in Redis. */
    NEXT;

    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();
    private static final String LIBRARY = "lock-spring-boot-autoconfigure";
    private static final String SOURCES = LIBRARY + "/src/main/java";
    private static final String FORMAT = "int FORMAT = " + LockStore.FORMAT + ";";
    private static final String NEXT_FORMAT = "int FORMAT = " + (LockStore.FORMAT + 1) + ";";
    private static final String WORKER = "src/test/java/io/github/lockboot/versions/VersionWorker.java";

    private String classPath;

    /** {@return the class path of an instance of this version} */
    String classPath() {
        try {
            if (classPath == null) {
                Path to = Files.createDirectories(Path.of("target", "versions", name()));
                classPath = switch (this) {
                    case BEFORE -> before(to);
                    case TODAY -> today();
                    case NEXT -> next(to);
                };
            }
            return classPath;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String today() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    /** What git has of it: sources in one archive, and what they read at run time, such as scripts, in another. */
    private static String before(Path to) throws IOException {
        String named = System.getProperty("before");
        String commit = named == null ? "HEAD^" : named;
        assumeTrue(
                named != null || git("cat-file", "-e", commit + ":" + SOURCES),
                "The version before this one beside it: this is no clone, or one without the commit before; "
                        + "clone the repository with its history");
        Path sources = to.resolve("sources.zip");
        Path resources = to.resolve("resources.jar");
        archive(sources, commit + ":" + SOURCES, "io");
        archive(resources, commit + ":" + LIBRARY + "/src/main/resources", ".");
        String others = Stream.of(today().split(File.pathSeparator))
                .filter(entry -> !entry.contains(LIBRARY))
                .collect(Collectors.joining(File.pathSeparator));
        compile(to, others, List.of("-sourcepath", sources.toString(), WORKER));
        return String.join(File.pathSeparator, to.toString(), resources.toString(), others);
    }

    private static void archive(Path file, String folder, String content) throws IOException {
        assertThat(git("archive", "--format=zip", "-o", file.toAbsolutePath().toString(), folder, content))
                .as("an archive of " + folder)
                .isTrue();
    }

    private static boolean git(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("git", "-C", ROOT.toString()));
        command.addAll(Arrays.asList(arguments));
        try {
            return new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String next(Path to) throws IOException {
        List<String> files = new ArrayList<>();
        for (String file : List.of("engine/LockStore.java", "redis/protocol/LuaScript.java")) {
            String source = Files.readString(ROOT.resolve(SOURCES + "/io/github/lockboot/" + file));
            Path copy = to.resolve(file);
            Files.createDirectories(copy.getParent());
            Files.writeString(copy, source.replace(FORMAT, NEXT_FORMAT));
            files.add(copy.toString());
        }
        assertThat(Files.readString(Path.of(files.get(0)))).contains(NEXT_FORMAT);
        compile(to, today(), files);
        return to + File.pathSeparator + today();
    }

    private static void compile(Path to, String classPath, List<String> what) {
        List<String> arguments = new ArrayList<>(
                List.of("-nowarn", "-proc:none", "-implicit:class", "-d", to.toString(), "-cp", classPath));
        arguments.addAll(what);
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        int failed = ToolProvider.getSystemJavaCompiler().run(null, said, said, arguments.toArray(String[]::new));
        assertThat(failed).as(said.toString()).isZero();
    }
}
