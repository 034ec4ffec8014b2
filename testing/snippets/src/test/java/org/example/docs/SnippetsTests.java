package org.example.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every block of Java, YAML, XML, SQL, JSON, commands of a shell and commands of Redis on a page is a region of a file
 * that the build compiles, runs or compares, and every block of Gradle's Kotlin is a file with the version of the
 * build. Which one, a comment above the block says: {@code <!-- snippet: File#region -->}. With
 * {@code -Dsnippets.update} the pages are rewritten from the regions instead. A page in Chinese keeps its own comments,
 * and its own sentences for a user.
 */
@Tag("this-build")
class SnippetsTests {

    private static final Set<String> CHECKED =
            Set.of("java", "kotlin", "yaml", "yml", "xml", "sql", "properties", "json", "sh", "redis");

    /** Commands of this repository, which {@link CommandsTests} checks, and drawings. */
    private static final Set<String> OTHERS = Set.of("", "text");

    private static final Pattern MARKER = Pattern.compile("\\s*<!--\\s*(snippet|not run):\\s*(.*?)\\s*-->\\s*");
    private static final String REWRITE = "./mvnw -pl testing/snippets -am test -Dtest=SnippetsTests"
            + " -Dsurefire.failIfNoSpecifiedTests=false -Dsnippets.update";

    private final Regions regions = Regions.read();

    @Test
    void everyBlockIsARegionOfAFileThatIsRun() throws IOException {
        List<String> problems = new ArrayList<>();
        for (Page page : Page.all()) {
            String path = Page.ROOT.relativize(page.file()).toString();
            if (path.startsWith("docs/") || path.startsWith("skills/") || path.matches("README[^/]*")) {
                if (System.getProperty("snippets.update") != null) {
                    page = update(page);
                }
                check(page, problems);
            }
        }
        assertThat(problems).isEmpty();
    }

    private void check(Page page, List<String> problems) {
        for (Page.Block block : page.blocks()) {
            String where = page.at(block.fence()) + ": ";
            if (!CHECKED.contains(block.language())) {
                if (!OTHERS.contains(block.language())) {
                    problems.add(where + "nothing checks a block of " + block.language() + "; use one of " + CHECKED);
                }
                continue;
            }
            Optional<Matcher> marker = marker(page, block);
            if (marker.isEmpty()) {
                problems.add(
                        where + "nothing says where this " + block.language()
                                + " is run; put it between // tag::name and"
                                + " // end::name in a test of testing/snippets, and <!-- snippet: File#name --> above the block");
            } else if (marker.get().group(1).equals("snippet")) {
                String name = marker.get().group(2);
                Optional<List<String>> region = regions.find(name);
                if (region.isEmpty()) {
                    problems.add(where + "there is no region " + name + " in testing/snippets or testing/matrix/peers");
                } else if (block.language().equals("java") && !name.matches("\\w+Tests?#.*")) {
                    problems.add(where + name + " is in no test, so nothing runs it");
                } else if (!shown(page, block, region.get()).equals(shown(page, block, page.text(block)))) {
                    problems.add(where + "not what " + name
                            + " says; change the page, or rewrite all pages from the code: " + REWRITE);
                }
            } else if (marker.get().group(2).length() < 10) {
                problems.add(where + "say why it is not run: <!-- not run: ... -->");
            }
        }
    }

    /**
     * A page may name the release that will be made of this snapshot, and one in Chinese has comments and sentences of
     * its own.
     */
    private static List<String> shown(Page page, Page.Block block, List<String> text) {
        List<String> own = page.isChinese() ? Comments.without(text, block.language()) : text;
        return own.stream().map(line -> line.replace("-SNAPSHOT", "")).toList();
    }

    private static Optional<Matcher> marker(Page page, Page.Block block) {
        int above = block.fence() - 1;
        while (above >= 0 && page.lines().get(above).isBlank()) {
            above--;
        }
        return above < 0
                ? Optional.empty()
                : Optional.of(MARKER.matcher(page.lines().get(above))).filter(Matcher::matches);
    }

    private Page update(Page page) throws IOException {
        List<String> lines = new ArrayList<>();
        int next = 0;
        for (Page.Block block : page.blocks()) {
            lines.addAll(page.lines().subList(next, block.fence() + 1));
            next = block.fence() + 1;
            Optional<List<String>> region = marker(page, block)
                    .filter(marker -> marker.group(1).equals("snippet"))
                    .flatMap(marker -> regions.find(marker.group(2)));
            if (region.isPresent() && CHECKED.contains(block.language())) {
                lines.addAll(
                        page.isChinese()
                                ? Comments.kept(region.get(), page.text(block), block.language())
                                : region.get());
                next = block.end();
            }
        }
        lines.addAll(page.lines().subList(next, page.lines().size()));
        Files.writeString(page.file(), String.join("\n", lines) + "\n");
        return Page.read(page.file());
    }
}
