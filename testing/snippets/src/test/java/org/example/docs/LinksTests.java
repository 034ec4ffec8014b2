package org.example.docs;

import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Every link of every page leads somewhere, and every test that a page names exists. The network is not asked. */
@Tag("this-build")
class LinksTests {

    private static final Pattern TEST =
            Pattern.compile("`(?:[a-z]+\\.)*([A-Z]\\w*(?:Tests?|Contract))(?:[.#](\\w+)(?:\\(\\))?)?`");

    private final Map<Path, Set<String>> anchors = new HashMap<>();

    @Test
    void everyLinkLeadsSomewhere() {
        List<String> problems = new ArrayList<>();
        for (Page page : Page.all()) {
            for (Page.Link link : page.links()) {
                String problem = link.target().matches("[a-z]+:.*")
                        ? problemOutside(link.target())
                        : problemInside(page.file(), link.target());
                if (!problem.isEmpty()) {
                    problems.add(page.at(link.line()) + ": " + link.target() + " " + problem);
                }
            }
        }
        assertThat(problems).isEmpty();
    }

    private static String problemOutside(String target) {
        try {
            URI uri = URI.create(target);
            boolean wellFormed = Set.of("https", "mailto").contains(uri.getScheme())
                    || uri.getScheme().equals("http") && "localhost".equals(uri.getHost());
            return wellFormed ? "" : "is neither https nor mailto";
        } catch (IllegalArgumentException malformed) {
            return "is no address";
        }
    }

    private String problemInside(Path page, String target) {
        String[] parts = URLDecoder.decode(target.replace("+", "%2B"), StandardCharsets.UTF_8)
                .split("#", 2);
        Path file = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]).normalize();
        if (!file.startsWith(Page.ROOT) || !Files.exists(file)) {
            return "does not exist";
        }
        boolean known = parts.length == 1
                || !file.toString().endsWith(".md")
                || anchors.computeIfAbsent(file, read -> Page.read(read).anchors())
                        .contains(parts[1]);
        return known ? "" : "has no such heading";
    }

    @Test
    void everyTestThatAPageNamesExists() throws IOException {
        Map<String, String> tests = tests();
        List<String> problems = new ArrayList<>();
        for (Page page : Page.all()) {
            for (int i = 0; i < page.lines().size(); i++) {
                Matcher test = TEST.matcher(page.lines().get(i));
                while (test.find()) {
                    String source = tests.get(test.group(1));
                    if (source == null) {
                        problems.add(page.at(i) + ": there is no test " + test.group(1));
                    } else if (test.group(2) != null && !source.contains(" " + test.group(2) + "(")) {
                        problems.add(page.at(i) + ": " + test.group(1) + " has no " + test.group(2));
                    }
                }
            }
        }
        assertThat(problems).isEmpty();
    }

    /** Their sources by name. */
    private static Map<String, String> tests() throws IOException {
        Map<String, String> tests = new HashMap<>();
        try (Stream<Path> files = Files.walk(Page.ROOT)) {
            for (Path file : files.filter(
                            file -> file.toString().matches(".*/src/test/(java/.*\\.java|kotlin/.*\\.kt)"))
                    .toList()) {
                tests.put(file.getFileName().toString().replaceFirst("\\.(java|kt)$", ""), Files.readString(file));
            }
        }
        return tests;
    }
}
