package org.example.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("this-build")
class SecurityPolicyTests {

    private static final Pattern TEST = Pattern.compile("`(\\w+Tests)`");
    private static final Pattern FILE = Pattern.compile("\\]\\(([\\w/.]+\\.md)[#)]");

    @Test
    void everyTestAndPageThatItNamesIsThere() throws IOException {
        String policy = Files.readString(Page.ROOT.resolve("SECURITY.md"));
        try (Stream<Path> sources = Files.walk(Page.ROOT.resolve("lock-spring-boot-autoconfigure/src/test/java"))) {
            List<String> tests = sources.map(
                            source -> source.getFileName().toString().replace(".java", ""))
                    .toList();
            assertThat(tests).containsAll(names(TEST, policy));
        }
        assertThat(names(FILE, policy)).isNotEmpty().allMatch(file -> Files.exists(Page.ROOT.resolve(file)));
    }

    private static List<String> names(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .map((MatchResult found) -> found.group(1))
                .distinct()
                .toList();
    }
}
