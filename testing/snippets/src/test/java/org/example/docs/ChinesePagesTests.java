package org.example.docs;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A page in Chinese has what its twin in English has: sections with the same anchors, the same blocks, tables of the
 * same length. Its comments in blocks are in Chinese, and its links lead to pages in Chinese, where there are any.
 */
@Tag("this-build")
class ChinesePagesTests {

    private static final String CHINESE = ".zh-CN.md";

    private static final String ENGLISH = "英文";
    private static final Pattern ROW = Pattern.compile("\\|.*\\]\\(([^)#]+\\.md)\\) \\|.*");

    private record Twins(Page english, Page chinese) {

        static Twins of(Page chinese) {
            String name = chinese.file().getFileName().toString().replace(CHINESE, ".md");
            return new Twins(Page.read(chinese.file().resolveSibling(name)), chinese);
        }

        @Override
        public String toString() {
            return Page.ROOT.relativize(chinese.file()).toString();
        }
    }

    static Stream<Twins> twins() {
        return Page.all().stream().filter(Page::isChinese).map(Twins::of);
    }

    /** The guide, by the list of contents, and the pages of the migration. */
    static Stream<String> guide() {
        Page list = Page.read(Page.ROOT.resolve("docs/README.md"));
        List<String> sections = List.of("guide", "migration");
        return list.sections().entrySet().stream()
                .filter(section -> sections.contains(section.getKey()))
                .flatMap(section -> section.getValue().stream())
                .map(ROW::matcher)
                .filter(Matcher::matches)
                .map(row -> row.group(1));
    }

    @ParameterizedTest
    @MethodSource("guide")
    void eachPageOfTheGuideHasATwin(String page) {
        assertThat(twin(Page.ROOT.resolve("docs").resolve(page))).exists();
    }

    /** A page in English is named as such: in the line of the link, or before the first section. */
    @ParameterizedTest
    @MethodSource("twins")
    void aLinkLeadsToThePageInChineseOrSaysThatThereIsNone(Twins twins) {
        Page page = twins.chinese;
        boolean told = page.sections().get("").stream().anyMatch(line -> line.contains(ENGLISH));
        List<String> problems = new ArrayList<>();
        for (Page.Link link : page.links()) {
            Path target = page.file()
                    .resolveSibling(link.target().replaceFirst("#.*", ""))
                    .normalize();
            if (!link.target().matches("(?![a-z]+:)[^#]+\\.md(#.*)?") || target.equals(twins.english.file())) {
                continue;
            }
            boolean chinese = target.toString().endsWith(CHINESE);
            if (!chinese && Files.exists(twin(target))) {
                problems.add(page.at(link.line()) + ": " + link.target() + " has a twin in Chinese");
            } else if (!chinese && !told && !page.lines().get(link.line()).contains(ENGLISH)) {
                problems.add(page.at(link.line()) + ": " + link.target() + " is in English; say so: " + ENGLISH);
            }
        }
        assertThat(problems).isEmpty();
    }

    private static Path twin(Path english) {
        return english.resolveSibling(english.getFileName().toString().replace(".md", CHINESE));
    }

    @ParameterizedTest
    @MethodSource("twins")
    void theCommentsOfItsBlocksAreInChinese(Twins twins) {
        assertThat(twins.chinese.blocks())
                .flatExtracting(block -> Comments.english(twins.chinese.text(block), block.language()))
                .isEmpty();
    }

    @ParameterizedTest
    @MethodSource("twins")
    void eachLinksToTheOther(Twins twins) {
        String english = twins.english.file().getFileName().toString();
        String chinese = twins.chinese.file().getFileName().toString();
        assertThat(twins.english.lines()).contains("English · [简体中文](" + chinese + ")");
        assertThat(twins.chinese.lines()).contains("[English](" + english + ") · 简体中文");
    }

    @ParameterizedTest
    @MethodSource("twins")
    void everySectionIsThereInOrder(Twins twins) {
        assertThat(twins.chinese.sections().keySet())
                .containsSubsequence(twins.english.sections().keySet());
    }

    @ParameterizedTest
    @MethodSource("twins")
    void theBlocksAreTheSameInTheSameOrder(Twins twins) {
        assertThat(markers(twins.chinese)).isEqualTo(markers(twins.english));
    }

    private static List<String> markers(Page page) {
        return page.lines().stream().filter(line -> line.startsWith("<!--")).toList();
    }

    @ParameterizedTest
    @MethodSource("twins")
    void everyTableHasAsManyRowsAndCells(Twins twins) {
        var chinese = twins.chinese.sections();
        assertThat(twins.english.sections())
                .allSatisfy((anchor, section) -> assertThat(cells(chinese.getOrDefault(anchor, List.of())))
                        .isEqualTo(cells(section)));
    }

    /** The cells of each row, and 0 where a table ends. */
    private static List<Integer> cells(List<String> section) {
        List<Integer> cells = new ArrayList<>();
        for (String line : section) {
            int found = line.startsWith("|") ? line.split("\\|", -1).length : 0;
            if (found > 0 || !cells.isEmpty() && cells.get(cells.size() - 1) > 0) {
                cells.add(found);
            }
        }
        return cells;
    }
}
