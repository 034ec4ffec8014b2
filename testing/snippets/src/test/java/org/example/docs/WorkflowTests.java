package org.example.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.Yaml;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the public forge is asked to run: it can be read, is what the scripts here know of, and may do no more than it
 * needs.
 */
@Tag("this-build")
class WorkflowTests {

    private static final Pattern SCRIPT = Pattern.compile("(?m)(?:^|\\s)((?:[\\w.-]+/)+run|\\./(?:mvnw|test))\\b");
    private static final Pattern ACTION = Pattern.compile("uses:\\s*([\\w.-]+/[\\w.-]+)[\\w./-]*@(\\S+)");

    private static final String COMMIT = "3d3c42e5aac5ba805825da76410c181273ba90b1";

    /** Each test below makes one mistake in it. */
    private static final String CAREFUL = """
            on: [pull_request]
            permissions: {contents: read}
            jobs:
              build:
                steps:
                  - uses: actions/checkout@%s # v7.0.1
                    with: { persist-credentials: false }
                  - run: echo "$TITLE" ${{ matrix.jdk }}
            """.formatted(COMMIT);

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

    static Stream<Path> workflows() throws IOException {
        return files().filter(file -> file.getParent().endsWith("workflows"));
    }

    @ParameterizedTest
    @MethodSource("workflows")
    void everyActionIsPinnedToACommitAndEveryPermissionIsNeeded(Path workflow) throws IOException {
        assertThat(WorkflowRules.problems(Files.readString(workflow))).isEmpty();
    }

    @Test
    void oneActionIsOneCommitInAllWorkflows() throws IOException {
        Map<String, Set<String>> commits = new TreeMap<>();
        for (Path workflow : workflows().toList()) {
            Matcher action = ACTION.matcher(Files.readString(workflow));
            while (action.find()) {
                commits.computeIfAbsent(action.group(1), first -> new TreeSet<>())
                        .add(action.group(2));
            }
        }
        assertThat(commits)
                .isNotEmpty()
                .allSatisfy((action, used) -> assertThat(used).hasSize(1));
    }

    @ParameterizedTest(name = "{0} -> {1}: {2}")
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "@" + COMMIT + " # v7.0.1, @v4, can be exchanged",
                "@" + COMMIT + " # v7.0.1, @main # v7.0.1, can be exchanged",
                "@" + COMMIT + " # v7.0.1, @3d3c42e # v7.0.1, can be exchanged",
                " # v7.0.1, ` # of July`, does not say its version",
                "` persist-credentials: false`, ` fetch-depth: 2`, can read the token of the checkout",
                "`{contents: read}`, `{contents: write}`, `contents: write, but its steps need read`",
                "`{contents: read}`, `{contents: read, packages: write}`, packages: write is needed by none",
                "`{contents: read}`, `{contents: read, id-token: write}`, id-token: write is needed by none",
                "`{contents: read}`, `{}`, `contents: null, but its steps need read`",
                "`{contents: read}`, write-all, not named one by one",
                "`permissions: {contents: read}`, ``, no permissions",
                "[pull_request], [pull_request_target], to the code of a stranger",
                "$TITLE, ${{ github.event.pull_request.title }}, becomes a part of the script",
            })
    void aWorkflowThatTrustsTooMuchIsRed(String right, String wrong, String problem) {
        assertThat(WorkflowRules.problems(CAREFUL)).isEmpty();
        assertThat(CAREFUL).contains(right);
        assertThat(WorkflowRules.problems(CAREFUL.replace(right, wrong)))
                .anySatisfy(said -> assertThat(said).contains(problem));
    }

    @Test
    void dependenciesOfEveryKindAreKeptUpToDate() throws IOException {
        List<?> updates =
                (List<?>) read(Page.ROOT.resolve(".github/dependabot.yml")).get("updates");
        assertThat(updates)
                .extracting(update -> map(update).get("package-ecosystem"))
                .containsExactlyInAnyOrder("maven", "github-actions", "npm");
        for (Object update : updates) {
            Object folders =
                    map(update).getOrDefault("directories", List.of(map(update).getOrDefault("directory", "")));
            for (Object folder : (List<?>) folders) {
                assertThat(Page.ROOT.resolve(folder.toString().replaceAll("^/|/\\*$", "")))
                        .isDirectory();
            }
        }
    }

    @Test
    void everyStepUsesAnActionOrRunsSomethingThatIsThere() throws IOException {
        for (Path file : workflows().toList()) {
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
