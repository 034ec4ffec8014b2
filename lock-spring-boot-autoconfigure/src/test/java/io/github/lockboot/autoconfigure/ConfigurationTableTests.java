package io.github.lockboot.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import com.jayway.jsonpath.JsonPath;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The properties in README.md are those that Spring Boot offers to editors, with their defaults. */
@Tag("this-build")
class ConfigurationTableTests {

    private static final Path TABLE = Path.of("../README.md");
    private static final Path METADATA = Path.of("target/classes/META-INF/spring-configuration-metadata.json");
    private static final String NO_DEFAULT = "–";

    private record Row(String property, String defaultValue) {

        static Row of(String line) {
            String[] cells = line.split("\\|");
            return new Row(code(cells[1]), code(cells[2]));
        }

        private static String code(String cell) {
            return cell.strip().replace("`", "");
        }
    }

    private static List<Row> rows() throws IOException {
        try (Stream<String> lines = Files.lines(TABLE)) {
            return lines.filter(line -> line.startsWith("| `lock."))
                    .map(Row::of)
                    .toList();
        }
    }

    private static Map<String, String> defaults() throws IOException {
        List<Map<String, Object>> properties = JsonPath.parse(METADATA.toFile()).read("$.properties");
        Map<String, String> defaults = new HashMap<>();
        for (Map<String, Object> property : properties) {
            defaults.put(
                    property.get("name").toString(),
                    property.getOrDefault("defaultValue", NO_DEFAULT).toString());
        }
        return defaults;
    }

    @Test
    void everyPropertyIsInTheTableOnceAndNothingElse() throws IOException {
        assertThat(rows())
                .extracting(Row::property)
                .containsExactlyInAnyOrderElementsOf(defaults().keySet());
    }

    @Test
    void theDefaultsAreThoseOfTheMetadata() throws IOException {
        Map<String, String> defaults = defaults();
        assertThat(rows())
                .allSatisfy(row -> assertThat(row.defaultValue).as(row.property).isEqualTo(defaults.get(row.property)));
    }
}
