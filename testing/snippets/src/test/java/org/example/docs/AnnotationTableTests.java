package org.example.docs;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import io.github.lockboot.DistributedLock;
import org.junit.jupiter.api.Test;

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
            return lines.filter(line -> line.startsWith("| `")).toList();
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

    @Test
    void everyExampleShowsItsAttribute() throws IOException {
        assertThat(rows()).allSatisfy(row -> assertThat(row.example).contains(row.attribute + " = "));
    }

    @Test
    void theChineseTableNamesTheSameInEveryRow() throws IOException {
        assertThat(lines(IN_CHINESE))
                .extracting(line -> Page.code(List.of(line)))
                .isEqualTo(lines(TABLE).stream()
                        .map(line -> Page.code(List.of(line)))
                        .toList());
    }

    private static Method method(Row row) throws NoSuchMethodException {
        return DistributedLock.class.getDeclaredMethod(row.attribute);
    }
}
