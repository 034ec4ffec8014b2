package org.example.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.Yaml;

import static org.assertj.core.api.Assertions.assertThat;

/** What the public forge is asked to run: it can be read, and is what the scripts here know of. */
@Tag("this-build")
class WorkflowTests {

    private static final Pattern SCRIPT = Pattern.compile("(?m)(?:^|\\s)((?:[\\w.-]+/)+run|\\./mvnw)\\b");

    static Stream<Path> files() throws IOException {
        try (Stream<Path> found = Files.walk(Page.ROOT.resolve(".github"))) {
            return found.filter(file -> file.toString().endsWith(".yml")).toList().stream();
        }
    }

    @ParameterizedTest
    @MethodSource("files")
    void everyFileIsYaml(Path file) throws IOException {
        assertThat(read(file)).isNotEmpty();
    }

    @Test
    void everyStepUsesAnActionOrRunsSomethingThatIsThere() throws IOException {
        for (Path file : List.of(workflow("ci"), workflow("release"), workflow("benchmark"))) {
            for (Object job : map(read(file).get("jobs")).values()) {
                assertThat(map(job)).containsKeys("runs-on", "timeout-minutes", "steps");
                for (Object step : (List<?>) map(job).get("steps")) {
                    assertThat(map(step).containsKey("uses") ^ map(step).containsKey("run"))
                            .isTrue();
                    Matcher script = SCRIPT.matcher(String.valueOf(map(step).get("run")));
                    while (script.find()) {
                        assertThat(Page.ROOT.resolve(script.group(1))).isExecutable();
                    }
                }
            }
        }
    }

    @Test
    void theMatrixIsEverySupportedLineOnEveryServer() throws IOException {
        Map<String, Object> lines = map(map(read(workflow("ci")).get("jobs")).get("lines"));
        Map<String, Object> matrix = map(map(lines.get("strategy")).get("matrix"));
        assertThat(matrix.get("jdk")).isEqualTo(List.of(17, 25));
        assertThat(matrix.get("boot")).isEqualTo(VersionsTests.lines());
        assertThat((List<?>) matrix.get("server"))
                .extracting(server -> map(server).get("image").toString().replaceAll("-.*", ""))
                .containsExactly("redis:6.2", "redis:7.4", "redis:8.0", "valkey/valkey:8.0");
    }

    private static Path workflow(String name) {
        return Page.ROOT.resolve(".github/workflows/" + name + ".yml");
    }

    private static Map<String, Object> read(Path file) throws IOException {
        return map(new Yaml().load(Files.readString(file)));
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> map(Object node) {
        return (Map<String, Object>) node;
    }
}
