package org.example.docs;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A block without a language is what a reader types in a clone. That, and every such command in a text or table, names
 * scripts, modules, profiles and tests that exist. Most of them take too long to be run here.
 */
@Tag("this-build")
class CommandsTests {

    private static final Pattern COMMAND = Pattern.compile(
            "(?:\\w+=\\S+ )?((?:\\./(?:mvnw|test)|(?:(?:testing|docs)/\\S*|site)/run)(?![\\w/.-])[^`#|]*)");
    private static final Pattern PROFILE = Pattern.compile("(?s)<profile>.*?<id>([^<]+)</id>");

    @Test
    void everyBlockWithoutALanguageIsCommandsOfThisRepository() {
        List<String> others = new ArrayList<>();
        for (Page page : Page.all()) {
            for (Page.Block block : page.blocks()) {
                if (block.language().isEmpty()) {
                    others.addAll(commandLines(page.text(block)).stream()
                            .filter(line -> !COMMAND.matcher(
                                            line.replaceFirst("#.*", "").strip())
                                    .matches())
                            .map(line -> page.at(block.fence()) + ": " + line)
                            .toList());
                }
            }
        }
        assertThat(others).isEmpty();
    }

    @Test
    void everyCommandNamesWhatExists() throws IOException {
        Set<String> profiles = profiles();
        List<String> tests = tests();
        List<String> problems = new ArrayList<>();
        int commands = 0;
        for (Page page : Page.all()) {
            for (String line : commandLines(page.lines())) {
                Matcher command = COMMAND.matcher(line);
                while (command.find()) {
                    commands++;
                    for (String problem : problems(command.group(1).strip().split("\\s+"), profiles, tests)) {
                        problems.add(Page.ROOT.relativize(page.file()) + ": " + problem + " in " + command.group(1));
                    }
                }
            }
        }
        assertThat(commands).isGreaterThan(50);
        assertThat(problems).isEmpty();
    }

    /** One that ends with a backslash goes on in the next. */
    private static List<String> commandLines(List<String> lines) {
        return List.of(String.join("\n", lines).replaceAll("\\\\\n\\s*", "").split("\n"));
    }

    private static List<String> problems(String[] words, Set<String> profiles, List<String> tests) {
        List<String> problems = new ArrayList<>();
        if (!Files.isExecutable(Page.ROOT.resolve(words[0]))) {
            problems.add("no script " + words[0]);
        }
        if (words[0].equals("./test")) {
            Stream.of(words)
                    .skip(1)
                    .filter(word -> word.matches("[A-Z]\\w+Tests"))
                    .filter(test -> !tests.contains(test))
                    .forEach(test -> problems.add("no test " + test));
        }
        for (int i = 1; i < words.length; i++) {
            String word = words[i].replace("'", "");
            if (word.startsWith("-P")) {
                Stream.of(word.substring(2).split(","))
                        .filter(profile -> !profiles.contains(profile))
                        .forEach(profile -> problems.add("no profile " + profile));
            } else if (word.equals("-pl")) {
                Stream.of(words[i + 1].split(","))
                        .filter(module -> !Files.exists(Page.ROOT.resolve(module + "/pom.xml")))
                        .forEach(module -> problems.add("no module " + module));
            } else if (word.startsWith("-Dtest=") && !word.contains("...")) {
                Stream.of(word.substring("-Dtest=".length()).split(","))
                        .map(test -> test.replaceFirst("#.*", ""))
                        .filter(test -> tests.stream().noneMatch(matching(test)))
                        .forEach(test -> problems.add("no test " + test));
            }
        }
        return problems;
    }

    private static Predicate<String> matching(String test) {
        PathMatcher glob = FileSystems.getDefault().getPathMatcher("glob:" + test);
        return name -> glob.matches(Path.of(name));
    }

    /** Of all modules. */
    private static Set<String> profiles() throws IOException {
        try (Stream<Path> files = Files.walk(Page.ROOT)) {
            return files.filter(
                            file -> file.endsWith("pom.xml") && !file.toString().contains("/target/"))
                    .map(file -> String.join("\n", Page.read(file).lines()))
                    .flatMap(pom -> PROFILE.matcher(pom).results())
                    .map(found -> found.group(1))
                    .collect(Collectors.toSet());
        }
    }

    private static List<String> tests() throws IOException {
        try (Stream<Path> files = Files.walk(Page.ROOT)) {
            return files.map(Path::toString)
                    .filter(file -> file.contains("/src/test/") && file.matches(".*\\.(java|kt)"))
                    .map(file -> file.replaceFirst(".*/", "").replaceFirst("\\.\\w+$", ""))
                    .toList();
        }
    }
}
