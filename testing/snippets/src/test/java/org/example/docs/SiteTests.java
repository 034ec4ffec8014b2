package org.example.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What the site is made of. It is made by site/run, with Node.js, which this test does not need. */
@Tag("this-build")
class SiteTests {

    private static final Path DOCS = Page.ROOT.resolve("docs");

    private static Set<Path> lists() {
        return Stream.of("README.md", "README.zh-CN.md")
                .map(DOCS::resolve)
                .filter(Files::exists)
                .collect(Collectors.toSet());
    }

    @Test
    void theListOfContentsNamesEveryPage() {
        Set<Path> named = lists().stream()
                .map(Page::read)
                .flatMap(list -> list.links().stream())
                .map(link -> DOCS.resolve(link.target().replaceFirst("#.*", "")).normalize())
                .collect(Collectors.toSet());
        assertThat(Page.all().stream().map(Page::file).filter(file -> file.startsWith(DOCS)))
                .as("docs/README.md is the sidebar of the site; name these pages in it")
                .filteredOn(file -> !lists().contains(file))
                .isNotEmpty()
                .allMatch(named::contains);
    }

    @Test
    void itsPackagesComeFromWhereverTheMachineTakesThem() throws IOException {
        String locked = Files.readString(Page.ROOT.resolve("site/package-lock.json"));
        assertThat(locked).contains("\"integrity\"").doesNotContain("\"resolved\"");
        assertThat(Page.ROOT.resolve("site/run")).isExecutable();
    }

    @Test
    void theSkillForAssistantsIsShort() throws IOException {
        Path skill = Page.ROOT.resolve("skills/distributed-lock/SKILL.md");
        assertThat(Files.readAllLines(skill))
                .hasSizeLessThanOrEqualTo(60)
                .startsWith("---", "name: distributed-lock")
                .anyMatch(line -> line.startsWith("description: "));
    }
}
