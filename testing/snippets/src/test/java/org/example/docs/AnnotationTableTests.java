package org.example.docs;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import io.github.lockboot.DistributedLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The documented attributes are those of the annotation, with its defaults and constants, and in Chinese the same. */
class AnnotationTableTests {

    private static final Path TABLE = Page.ROOT.resolve("docs/annotation.md");
    private static final Path IN_CHINESE = Page.ROOT.resolve("docs/annotation.zh-CN.md");

    private record Row(String attribute, String defaultValue, String legal, String example) {

        static Row of(String line) {
            String[] cells = line.split("\\|");
            return new Row(code(cells[1]), code(cells[2]), cells[3], cells[4]);
        }

        private static String code(String cell) {
            return cell.strip().replace("`", "");
        }
    }

    private static List<Row> rows() throws IOException {
        return lines(TABLE).stream().map(Row::of).toList();
    }

    private static List<String> lines(Path table) throws IOException {
        try (Stream<String> lines = Files.lines(table)) {
            return lines.filter(line -> line.startsWith("| `") && line.split("\\|").length > 4)
                    .toList();
        }
    }

    @Test
    void everyAttributeIsInTheTableAndNothingElse() throws IOException {
        assertThat(rows())
                .extracting(Row::attribute)
                .containsExactlyInAnyOrder(Arrays.stream(DistributedLock.class.getDeclaredMethods())
                        .map(Method::getName)
                        .toArray(String[]::new));
    }

    @Test
    void theDefaultsAreThoseOfTheAnnotation() throws Exception {
        for (Row row : rows()) {
            Object value = method(row).getDefaultValue();
            String expected = value instanceof String text
                    ? '"' + text + '"'
                    : value instanceof Object[] array && array.length == 0 ? "{}" : value.toString();
            assertThat(row.defaultValue).as(row.attribute).isEqualTo(expected);
        }
    }

    @Test
    void everyConstantIsNamed() throws Exception {
        for (Row row : rows()) {
            Object[] constants = method(row).getReturnType().getEnumConstants();
            if (constants != null) {
                assertThat(row.legal)
                        .contains(Arrays.stream(constants).map(Object::toString).toList());
            }
        }
    }

    /** As a reader pastes it: with the imports that the page shows. */
    @ParameterizedTest
    @ValueSource(strings = {"docs/annotation.md", "docs/annotation.zh-CN.md"})
    void everyExampleCompilesWithTheImportsOfThePage(String path, @TempDir Path folder) throws IOException {
        List<String> source = new ArrayList<>(Page.read(Page.ROOT.resolve(path)).lines().stream()
                .filter(line -> line.startsWith("import "))
                .toList());
        source.add("class Pasted {");
        for (Row row : rows()) {
            source.add("@DistributedLock(" + Row.code(row.example) + ") void " + row.attribute + "() {}");
        }
        source.add("}");
        Path file = Files.write(folder.resolve("Pasted.java"), source);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(problems, null, null)) {
            compiler.getTask(
                            null,
                            files,
                            problems,
                            List.of("-proc:none", "-d", folder.toString()),
                            null,
                            files.getJavaFileObjects(file))
                    .call();
        }
        assertThat(problems.getDiagnostics()).isEmpty();
    }

    @Test
    void everyExampleShowsItsAttribute() throws IOException {
        assertThat(rows()).allSatisfy(row -> assertThat(row.example).contains(row.attribute + " = "));
    }

    @Test
    void theChineseTableNamesTheSameInEveryRow() throws IOException {
        assertThat(lines(IN_CHINESE))
                .extracting(line -> Page.code(List.of(Comments.withoutSentences(line))))
                .isEqualTo(lines(TABLE).stream()
                        .map(line -> Page.code(List.of(Comments.withoutSentences(line))))
                        .toList());
    }

    private static Method method(Row row) throws NoSuchMethodException {
        return DistributedLock.class.getDeclaredMethod(row.attribute);
    }
}
