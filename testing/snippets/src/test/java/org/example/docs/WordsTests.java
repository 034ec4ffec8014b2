package org.example.docs;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A team reads the guide, so it stays short. A word is what stands between spaces and has a letter or a digit, in
 * texts, tables and code; comments of HTML are none.
 */
@Tag("this-build")
class WordsTests {

    private static final int README = 1_600;
    private static final int GUIDE = 15_000;
    private static final int PAGE = 2_800;
    private static final int MIGRATION = 1_200;
    private static final int PER_MINUTE = 200;

    private static final Pattern WORD = Pattern.compile("\\S*[\\p{L}\\p{N}]\\S*");
    private static final Pattern ROW = Pattern.compile("\\|.*\\]\\(([^)]+)\\) \\| (\\d+) \\|");
    private static final Path LIST = Page.ROOT.resolve("docs/README.md");

    private static int words(Path page) {
        String text = String.join("\n", Page.read(page).lines()).replaceAll("(?s)<!--.*?-->", "");
        return (int) WORD.matcher(text).results().count();
    }

    /** The pages of the guide, and the minutes that the list of contents gives for each. */
    private static Map<Path, Integer> guide() {
        Map<Path, Integer> minutes = new LinkedHashMap<>();
        List<String> lines = Page.read(LIST).lines();
        for (String line : lines.subList(lines.indexOf("## Guide"), lines.indexOf("## Reference"))) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                minutes.put(LIST.resolveSibling(row.group(1)), Integer.valueOf(row.group(2)));
            }
        }
        return minutes;
    }

    @Test
    void theReadmeIsReadInAFewMinutes() {
        assertThat(words(Page.ROOT.resolve("README.md"))).isLessThanOrEqualTo(README);
    }

    @Test
    void theGuideIsReadInAnHourAndAQuarter() {
        Map<Path, Integer> words = new LinkedHashMap<>();
        guide().keySet().forEach(page -> words.put(Page.ROOT.relativize(page), words(page)));
        assertThat(words.keySet())
                .extracting(page -> page.toString())
                .contains(
                        "docs/getting-started.md",
                        "docs/annotation.md",
                        "docs/api.md",
                        "docs/transactions.md",
                        "docs/jobs.md",
                        "docs/guards.md",
                        "docs/operations.md",
                        "docs/testing.md",
                        "docs/migration/README.md",
                        "docs/guarantees.md");
        assertThat(words.values().stream().mapToInt(Integer::intValue).sum())
                .as("words of the guide: %s", words)
                .isLessThanOrEqualTo(GUIDE);
        assertThat(words)
                .as("what one reads in one go")
                .allSatisfy((page, number) -> assertThat(number).isLessThanOrEqualTo(PAGE));
    }

    /** Who replaces one library reads one of them. */
    @Test
    void aPageOfTheMigrationIsShort() {
        assertThat(Page.all().stream()
                        .map(Page::file)
                        .filter(file -> file.startsWith(LIST.resolveSibling("migration"))))
                .isNotEmpty()
                .filteredOn(file -> !file.toString().contains("zh-CN"))
                .allSatisfy(file -> assertThat(words(file)).isLessThanOrEqualTo(MIGRATION));
    }

    @Test
    void theMinutesAreThoseOfTheWords() {
        List<String> wrong = new ArrayList<>();
        guide().forEach((page, minutes) -> {
            int read = Math.max(1, Math.round((float) words(page) / PER_MINUTE));
            if (Math.abs(read - minutes) > 1) {
                wrong.add(Page.ROOT.relativize(page) + ": " + read + " minutes, not " + minutes);
            }
        });
        assertThat(wrong).isEmpty();
    }
}
