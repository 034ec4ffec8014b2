package io.github.lockboot.sample.live;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

/** What the cards of the page show as code is in the sources that they link, and the pages that they link exist. */
class PageSourceTests {

    private static final Path PAGE = Path.of("src/main/resources/static");
    private static final Path SOURCES = Path.of("src/main/java/io/github/lockboot/sample");
    private static final Path DOCS = Path.of("../docs");
    private static final Pattern CARD = Pattern.compile("(?s)<section [^>]*data-card=\"([\\w-]+)\".*?</section>");
    private static final Pattern CODE = Pattern.compile("(?s)<code>(.+?)</code>");
    private static final Pattern LINKS = Pattern.compile("data-doc=\"([\\w-]+)\" data-source=\"([^\"]+)\"");

    @TestFactory
    List<DynamicTest> eachCard() throws IOException {
        String chinese = String.join("", found("inChinese = \\[(.*?)]", "page.js"));
        List<DynamicTest> tests = new ArrayList<>();
        for (MatchResult card :
                CARD.matcher(read(PAGE.resolve("index.html"))).results().toList()) {
            tests.add(dynamicTest(card.group(1), () -> {
                Matcher links = LINKS.matcher(card.group());
                assertThat(links.find()).as("links").isTrue();
                assertThat(DOCS.resolve(links.group(1) + ".md")).exists();
                assertThat(Files.exists(DOCS.resolve(links.group(1) + ".zh-CN.md")))
                        .as("there is a Chinese page: adapt 'inChinese' in page.js")
                        .isEqualTo(chinese.contains("'" + links.group(1) + "'"));
                assertCode(card.group(), links.group(2).split(" "));
            }));
        }
        assertThat(tests).hasSizeGreaterThan(10);
        return tests;
    }

    /** In this order. White space does not matter; the end of a line and an ellipsis stand for what is left out. */
    private static void assertCode(String card, String... files) throws IOException {
        StringBuilder source = new StringBuilder();
        for (String file : files) {
            source.append(read(SOURCES.resolve(file)));
        }
        String all = source.toString().replaceAll("\\s", "");
        List<String> code =
                CODE.matcher(card).results().map(each -> each.group(1)).toList();
        assertThat(code).isNotEmpty();
        for (String each : code) {
            int from = 0;
            for (String part : each.replace("&gt;", ">").split("…|//|\n")) {
                String wanted = part.replaceAll("\\s", "");
                assertThat(all.indexOf(wanted, from)).as(part).isNotNegative();
                from = all.indexOf(wanted, from) + wanted.length();
            }
        }
    }

    private static List<String> found(String pattern, String file) throws IOException {
        try (Stream<MatchResult> results =
                Pattern.compile(pattern).matcher(read(PAGE.resolve(file))).results()) {
            return results.map(each -> each.group(1)).toList();
        }
    }

    private static String read(Path file) throws IOException {
        return Files.readString(file);
    }
}
