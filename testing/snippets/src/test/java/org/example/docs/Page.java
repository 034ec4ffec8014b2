package org.example.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A Markdown file of the repository: its fenced blocks, its links and the anchors of its headings. */
record Page(Path file, List<String> lines) {

    /** The repository. */
    static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

    private static final Pattern FENCE = Pattern.compile("\\s*(`{3,}|~{3,})(\\S*).*");
    private static final Pattern HEADING = Pattern.compile("#{1,6}\\s+(.*?)\\s*#*");
    private static final Pattern NAMED = Pattern.compile("<a\\s[^>]*(?:id|name)=\"([^\"]+)\"");
    private static final Pattern LINK = Pattern.compile("!?\\[[^\\]]*\\]\\(\\s*<?([^)\\s>]+)[^)]*\\)");
    private static final Pattern IN_HTML = Pattern.compile("(?:href|src|srcset)=\"([^\"\\s]+)[^\"]*\"");
    private static final Pattern CODE = Pattern.compile("(`+).*?\\1");

    /**
     * A fenced block.
     *
     * @param fence index of its first line, that of the fence
     * @param end index of the line of its closing fence
     */
    record Block(int fence, int end, String language) {}

    record Link(int line, String target) {}

    static Page read(Path file) {
        try {
            return new Page(file, Files.readAllLines(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** All of the repository but what is built. */
    static List<Page> all() {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files.filter(file -> file.toString().endsWith(".md"))
                    .filter(file -> Stream.of("target", "node_modules", ".git")
                            .noneMatch(built -> ROOT.relativize(file).toString().contains(built + "/")))
                    .sorted()
                    .map(Page::read)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean isChinese() {
        return file.toString().endsWith(".zh-CN.md");
    }

    /** Where a reader looks it up: file and line, counted from 1. */
    String at(int index) {
        return ROOT.relativize(file) + ":" + (index + 1);
    }

    List<Block> blocks() {
        List<Block> blocks = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            Matcher fence = FENCE.matcher(lines.get(i));
            if (fence.matches()) {
                int end = i + 1;
                while (end < lines.size() && !lines.get(end).strip().equals(fence.group(1))) {
                    end++;
                }
                blocks.add(new Block(i, end, fence.group(2)));
                i = end;
            }
        }
        return blocks;
    }

    /** What stands between the fences, as far left as it goes. */
    List<String> text(Block block) {
        return Regions.leftmost(lines.subList(block.fence() + 1, block.end()));
    }

    /** Neither in blocks nor in code, where brackets are no links. */
    private List<String> prose() {
        List<String> prose = new ArrayList<>(lines);
        blocks().forEach(block -> {
            for (int i = block.fence(); i <= block.end() && i < prose.size(); i++) {
                prose.set(i, "");
            }
        });
        return prose;
    }

    List<Link> links() {
        String text = prose().stream()
                .map(line -> CODE.matcher(line).replaceAll("code"))
                .collect(Collectors.joining("\n"));
        List<Link> links = new ArrayList<>();
        for (Pattern form : List.of(LINK, IN_HTML)) {
            Matcher link = form.matcher(text);
            while (link.find()) {
                int line = (int) text.substring(0, link.start(1)).lines().count() - 1;
                links.add(new Link(line, link.group(1)));
            }
        }
        return links;
    }

    /**
     * By GitHub's rule: letters, digits, hyphens and underscores in lower case, spaces as hyphens, repetitions
     * numbered.
     */
    Set<String> anchors() {
        Set<String> anchors = new HashSet<>();
        Map<String, Integer> seen = new HashMap<>();
        for (String line : prose()) {
            Matcher named = NAMED.matcher(line);
            while (named.find()) {
                anchors.add(named.group(1));
            }
            Matcher heading = HEADING.matcher(line);
            if (heading.matches()) {
                String anchor = anchor(heading.group(1));
                int before = seen.merge(anchor, 1, Integer::sum) - 1;
                anchors.add(before == 0 ? anchor : anchor + "-" + before);
            }
        }
        return anchors;
    }

    private static String anchor(String heading) {
        return heading.replaceAll("!?\\[([^\\]]*)\\]\\([^)]*\\)", "$1")
                .replaceAll("<[^>]+>", "")
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{M}\\p{N}\\p{Pc}\\- ]", "")
                .replace(' ', '-');
    }

    /**
     * The lines below each heading, without blocks, by the anchor that the heading names in HTML, or else by GitHub's.
     * The title of the page has no anchor here.
     */
    Map<String, List<String>> sections() {
        Map<String, List<String>> sections = new LinkedHashMap<>();
        List<String> section = new ArrayList<>();
        for (String line : prose()) {
            Matcher heading = HEADING.matcher(line);
            if (heading.matches()) {
                Matcher named = NAMED.matcher(line);
                String anchor = named.find() ? named.group(1) : anchor(heading.group(1));
                section = sections.computeIfAbsent(sections.isEmpty() ? "" : anchor, first -> new ArrayList<>());
            } else {
                section.add(line);
            }
        }
        return sections;
    }

    /** What stands between backticks, also where a line ends in it. */
    static Set<String> code(List<String> lines) {
        Set<String> code = new LinkedHashSet<>();
        Matcher quoted = CODE.matcher(String.join(" ", lines));
        while (quoted.find()) {
            code.add(quoted.group().replace("`", "").replaceAll("\\s+", " ").strip());
        }
        return code;
    }
}
