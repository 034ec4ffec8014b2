package io.github.lockboot.spec;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import com.github.difflib.patch.PatchFailedException;
import com.github.difflib.unifieddiff.UnifiedDiffFile;
import com.github.difflib.unifieddiff.UnifiedDiffReader;
import org.springframework.util.FileSystemUtils;

/**
 * The library with one rule of the protocol broken, by a patch of its sources in {@code mutants}. A patch of a script
 * also breaks the rule in the model of the scripts, which is in the sources of the tests.
 *
 * @param folder has the classes and the scripts that differ; it belongs before the library on a class path
 */
record Mutant(String name, Path folder) {

    private static final Path PATCHES = Path.of("mutants");
    private static final Path REPOSITORY = Path.of("../..");
    private static final String CLASS_PATH = System.getProperty("java.class.path");

    /** {@return the names of all rules that are broken in the code} */
    static List<String> names() {
        return withFile(".patch");
    }

    /** {@return the names of those that are broken in a model, too} */
    static List<String> ofModels() {
        return withFile(".cfg");
    }

    private static List<String> withFile(String ending) {
        try (Stream<Path> files = Files.list(PATCHES)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(file -> file.endsWith(ending))
                    .map(file -> file.replace(ending, ""))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** As {@link #of(Path)}, with the patch of this name. */
    static Mutant of(String name) {
        return of(PATCHES.resolve(name + ".patch"));
    }

    /**
     * Patches copies of the sources and compiles them.
     *
     * @throws IllegalStateException if the patch does not apply to the sources as they are, or they do not compile
     */
    static Mutant of(Path patch) {
        String name = patch.getFileName().toString().replace(".patch", "");
        Path work = Path.of("target", "mutants", name);
        Path sources = work.resolve("sources");
        Path folder = work.resolve("classes");
        try {
            FileSystemUtils.deleteRecursively(work);
            Files.createDirectories(folder);
            List<Path> classes = new ArrayList<>();
            for (UnifiedDiffFile diff : diffs(patch)) {
                String file = diff.getFromFile();
                boolean compiled = file.endsWith(".java");
                String inside = file.replaceFirst(".*/src/(main|test)/(java|resources)/", "");
                Path copy = (compiled ? sources : folder).resolve(inside);
                Files.createDirectories(copy.getParent());
                Files.write(copy, patched(name, diff));
                if (compiled) {
                    classes.add(copy);
                }
            }
            compile(name, classes, folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Mutant(name, folder.toAbsolutePath());
    }

    private static List<UnifiedDiffFile> diffs(Path patch) throws IOException {
        try (InputStream in = Files.newInputStream(patch)) {
            List<UnifiedDiffFile> diffs = UnifiedDiffReader.parseUnifiedDiff(in).getFiles();
            if (diffs.isEmpty()) {
                throw new IllegalStateException(patch + " is empty");
            }
            return diffs;
        }
    }

    /** The lines around a change must be as in the patch; how many lines are before them does not matter. */
    private static List<String> patched(String name, UnifiedDiffFile diff) throws IOException {
        Path source = REPOSITORY.resolve(diff.getFromFile());
        try {
            return diff.getPatch().applyFuzzy(Files.readAllLines(source), 0);
        } catch (PatchFailedException e) {
            throw new IllegalStateException(
                    name + ".patch does not apply to " + source.getFileName() + ": " + e.getMessage(), e);
        }
    }

    private static void compile(String name, List<Path> sources, Path folder) throws IOException {
        if (sources.isEmpty()) {
            return;
        }
        JavaCompiler compiler = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler(), "a JDK is needed");
        StringWriter messages = new StringWriter();
        List<String> options =
                List.of("-proc:none", "-nowarn", "-parameters", "-cp", CLASS_PATH, "-d", folder.toString());
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            boolean compiled = compiler.getTask(
                            messages, files, null, options, null, files.getJavaFileObjectsFromPaths(sources))
                    .call();
            if (!compiled) {
                throw new IllegalStateException(name + ".patch does not compile:\n" + messages);
            }
        }
    }

    /** {@return a class path with this mutant before the library} */
    String classPath() {
        return folder + File.pathSeparator + CLASS_PATH;
    }

    /**
     * {@return a loader of all classes of this library and its tests anew, with this mutant before them} It takes the
     * classes of this package, and those of others, from its parent.
     */
    ClassLoader loader() {
        return new Loader(Stream.of(classPath().split(File.pathSeparator))
                .map(Mutant::url)
                .toArray(URL[]::new));
    }

    private static URL url(String entry) {
        try {
            return Path.of(entry).toUri().toURL();
        } catch (MalformedURLException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static final class Loader extends URLClassLoader {

        private static final String OURS = "io.github.lockboot.";

        Loader(URL[] classPath) {
            super(classPath, Mutant.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(OURS) || name.startsWith(Mutant.class.getPackageName())) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded != null ? loaded : findClass(name);
            }
        }

        @Override
        public URL getResource(String name) {
            URL resource = findResource(name);
            return resource != null ? resource : super.getResource(name);
        }
    }
}
