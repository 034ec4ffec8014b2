package org.example.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/**
 * The properties in docs/properties.md are those that Spring Boot offers to editors, as they are told there; both
 * READMEs have the main ones.
 */
@Tag("this-build")
class ConfigurationTableTests {

    private static final Path WHOLE = Page.ROOT.resolve("docs/properties.md");
    private static final Path WHOLE_IN_CHINESE = Page.ROOT.resolve("docs/properties.zh-CN.md");
    private static final Path MAIN = Page.ROOT.resolve("README.md");
    private static final Path MAIN_IN_CHINESE = Page.ROOT.resolve("README.zh-CN.md");
    private static final String NO_DEFAULT = "–";

    private record Row(String property, String defaultValue, String description) {

        static Row of(String line) {
            String[] cells = line.split("\\|");
            return new Row(code(cells[1]), code(cells[2]), cells[3].strip());
        }

        private static String code(String cell) {
            return cell.strip().replace("`", "");
        }
    }

    private static List<Row> rows(Path table) throws IOException {
        try (Stream<String> lines = Files.lines(table)) {
            return lines.filter(line -> line.startsWith("| `lock.") && line.split("\\|").length == 4)
                    .map(Row::of)
                    .filter(row -> !row.property.contains(" "))
                    .toList();
        }
    }

    private static List<Row> metadata() throws IOException {
        return Metadata.properties().stream()
                .filter(property -> property.get("name").toString().startsWith("lock."))
                .map(property -> new Row(
                        property.get("name").toString(),
                        property.getOrDefault("defaultValue", NO_DEFAULT).toString(),
                        property.get("description").toString()))
                .toList();
    }

    @Test
    void everyPropertyIsInTheWholeTableOnceAsTheMetadataTellsIt() throws IOException {
        assertThat(rows(WHOLE)).containsExactlyInAnyOrderElementsOf(metadata());
    }

    @Test
    void theMainOnesHaveTheDefaultsOfTheMetadata() throws IOException {
        Map<String, String> defaults = metadata().stream().collect(Collectors.toMap(Row::property, Row::defaultValue));
        assertThat(rows(MAIN))
                .isNotEmpty()
                .doesNotHaveDuplicates()
                .allSatisfy(row -> assertThat(defaults).containsEntry(row.property, row.defaultValue));
    }

    @Test
    void theChineseTablesHaveTheSameOnes() throws IOException {
        assertThatOneHasThoseOfTheOther(WHOLE_IN_CHINESE, WHOLE);
        assertThatOneHasThoseOfTheOther(MAIN_IN_CHINESE, MAIN);
    }

    private static void assertThatOneHasThoseOfTheOther(Path one, Path other) throws IOException {
        assertThat(rows(one))
                .extracting(Row::property, Row::defaultValue)
                .isEqualTo(rows(other).stream()
                        .map(row -> tuple(row.property, row.defaultValue))
                        .toList());
    }

    @Test
    void descriptionsAreSentences() throws IOException {
        assertThat(metadata()).allSatisfy(row -> assertThat(row.description).matches("[A-Z].*[.]"));
    }
}
