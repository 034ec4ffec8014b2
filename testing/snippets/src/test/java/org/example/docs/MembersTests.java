package org.example.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What pages write as {@code Type.member}, where the library has such a type. The change log also names what was
 * removed.
 */
class MembersTests {

    private static final Path SOURCES = Page.ROOT.resolve("lock-spring-boot-autoconfigure/src/main/java");
    private static final Pattern MEMBER = Pattern.compile("`([A-Z]\\w+)[.#](\\w+)");
    private static final Pattern EXTENDED = Pattern.compile("(?:extends|implements) (\\w+)");
    private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/|//[^\n]*", Pattern.DOTALL);

    @Test
    void eachMemberThatAPageNamesExists() throws Exception {
        Map<String, String> types = types();
        List<String> missing = new ArrayList<>();
        int found = 0;
        for (Page page : Page.all()) {
            if (page.file().endsWith("CHANGELOG.md")) {
                continue;
            }
            for (int i = 0; i < page.lines().size(); i++) {
                Matcher named = MEMBER.matcher(page.lines().get(i));
                while (named.find()) {
                    if (isMissing(types, named.group(1), named.group(2))) {
                        missing.add(page.at(i) + " " + named.group(1) + "." + named.group(2));
                    }
                    found++;
                }
            }
        }
        assertThat(missing).isEmpty();
        assertThat(found).as("the pattern finds members").isPositive();
    }

    private static boolean isMissing(Map<String, String> types, String type, String member) {
        String source = types.get(type);
        if (source == null || source.matches("(?s).*\\b" + member + "\\b.*")) {
            return false;
        }
        Matcher extended = EXTENDED.matcher(source);
        return !extended.find() || !types.containsKey(extended.group(1)) || isMissing(types, extended.group(1), member);
    }

    /** The code of each type in a file of its own, by its name. */
    private static Map<String, String> types() throws IOException {
        Map<String, String> types = new HashMap<>();
        try (Stream<Path> files = Files.walk(SOURCES)) {
            for (Path file :
                    files.filter(file -> file.toString().endsWith(".java")).toList()) {
                String name = file.getFileName().toString().replace(".java", "");
                types.put(name, COMMENT.matcher(Files.readString(file)).replaceAll(""));
            }
        }
        return types;
    }
}
