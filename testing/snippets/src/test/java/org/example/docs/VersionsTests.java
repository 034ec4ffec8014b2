package org.example.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The versions that pages and other files name are those that the tests run on: lines of Spring Boot as
 * {@code testing/matrix/run} has them, other libraries as the applications of the matrix have them.
 */
@Tag("this-build")
class VersionsTests {

    /** Libraries by their names on pages, and the property of their version. */
    private static final Map<String, String> PEERS = Map.of(
            "Redisson", "redisson.version",
            "lock4j", "lock4j.version",
            "Spring Integration", "spring-integration.version",
            "ShedLock", "shedlock.version");

    private static final Pattern PEER = Pattern.compile("\\b(" + String.join("|", PEERS.keySet()) + ")\\b");
    private static final Pattern VERSION = Pattern.compile("\\b\\d+\\.\\d+\\.\\d+\\b");

    /** How far behind the name of a library its versions may stand. */
    private static final int SENTENCE = 60;

    @Test
    void theSupportedLinesOfSpringBootAreThoseOfTheMatrix() throws IOException {
        assertThat(firstCells("docs/support.md", "spring-boot"))
                .isEqualTo(lines().stream()
                        .map(line -> line.replaceFirst("\\.[0-9]+$", ""))
                        .toList());
    }

    @Test
    void theTableOfCompatibilityIsOfTheseVersions() throws IOException {
        assertThat(Page.read(Page.ROOT.resolve("docs/evidence/compatibility.md"))
                        .lines())
                .contains("| | Spring Boot " + String.join(" | ", lines()) + " |");
    }

    @ParameterizedTest
    @ValueSource(strings = {"README.md", "README.zh-CN.md"})
    void theReadmeNamesTheseLinesAndTheServersThatAreSupported(String readme) throws IOException {
        List<String> lines = firstCells("docs/support.md", "spring-boot");
        List<String> text = Files.readAllLines(Page.ROOT.resolve(readme));
        assertThat(text)
                .anyMatch(line -> line.matches(
                        ".*Spring Boot " + lines.get(0) + " (to|到) " + lines.get(lines.size() - 1) + "\\b.*"));
        List<String> cells = text.stream()
                .filter(line -> line.startsWith("| " + lines.get(0)))
                .flatMap(line -> Stream.of(line.split("\\|")))
                .toList();
        assertThat(numbers(cells.get(1))).containsExactlyElementsOf(lines);
        assertThat(numbers(cells.get(3)))
                .containsExactlyInAnyOrderElementsOf(
                        numbers(String.join(" ", firstCells("docs/support.md", "redis-and-valkey"))));
    }

    private static List<String> numbers(String text) {
        return Pattern.compile("\\d+\\.\\d+")
                .matcher(text)
                .results()
                .map(MatchResult::group)
                .toList();
    }

    @Test
    void thePeersOfBenchmarkAndFaultsAreThoseOfTheMatrixOnTheNewestLine() throws IOException {
        String build = Files.readString(Page.ROOT.resolve("pom.xml"));
        List<String> lines = lines();
        assertThat(values(build, "peers.spring-boot.version")).containsExactly(lines.get(lines.size() - 1));
        assertThat(versions("spring-integration.version"))
                .containsAll(values(build, "spring-integration.version"))
                .first()
                .isEqualTo(
                        values(build, "spring-integration.version").iterator().next());
    }

    @Test
    void pagesNameTheVersionsOfOtherLibrariesThatTheMatrixRuns() throws IOException {
        for (Page page : Page.all()) {
            String text = String.join(" ", page.lines());
            Matcher peer = PEER.matcher(text);
            while (peer.find()) {
                String near = text.substring(peer.end(), Math.min(text.length(), peer.end() + SENTENCE));
                Matcher other = PEER.matcher(near);
                Matcher version = VERSION.matcher(other.find() ? near.substring(0, other.start()) : near);
                while (version.find()) {
                    assertThat(versions(requireNonNull(PEERS.get(peer.group(1)))))
                            .as("%s: %s", page.file(), peer.group(1))
                            .contains(version.group());
                }
            }
        }
        for (String language : List.of("", ".zh-CN")) {
            String comparison = Files.readString(Page.ROOT.resolve("docs/evidence/comparison" + language + ".md"));
            for (Map.Entry<String, String> one : PEERS.entrySet()) {
                assertThat(comparison)
                        .contains(one.getKey() + " "
                                + versions(one.getValue()).iterator().next());
            }
        }
    }

    /** The supported lines of Spring Boot, each as the version that is tested. */
    static List<String> lines() throws IOException {
        Matcher lines = Pattern.compile("(?m)^lines=\\((.*)\\)$")
                .matcher(Files.readString(Page.ROOT.resolve("testing/matrix/run")));
        assertThat(lines.find()).isTrue();
        return Arrays.asList(lines.group(1).split(" "));
    }

    private static List<String> firstCells(String page, String section) {
        return requireNonNull(Page.read(Page.ROOT.resolve(page)).sections().get(section)).stream()
                .filter(row -> row.matches("\\| (Redis )?[0-9].*"))
                .map(row -> row.split("\\|")[1].strip())
                .toList();
    }

    /** On the newest line first. */
    private static Set<String> versions(String property) throws IOException {
        return values(Files.readString(Page.ROOT.resolve("testing/matrix/peers/pom.xml")), property);
    }

    private static Set<String> values(String pom, String property) {
        Set<String> values = new LinkedHashSet<>();
        Matcher value = Pattern.compile("<" + property + ">(.*?)</").matcher(pom);
        while (value.find()) {
            values.add(value.group(1));
        }
        return values;
    }
}
