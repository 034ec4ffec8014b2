package org.example.docs;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The comments of a block, and the sentences in it that a user reads. A page in Chinese shows the code of a region with
 * comments and sentences of its own, line by line: they stand on the page only.
 */
final class Comments {

    private static final Pattern SLASHES = Pattern.compile("(|.*?\\s)(//\\s+\\S.*)");
    private static final Pattern STAR = Pattern.compile("(\\s*)(/?\\*.*)");
    private static final Pattern HASH = Pattern.compile("(|.*?\\s)(#\\s+\\S.*)");
    private static final Pattern DASHES = Pattern.compile("(|.*?\\s)(--\\s+\\S.*)");

    /** The message of an annotation, and what a web application answers with it. */
    private static final Pattern SENTENCE =
            Pattern.compile("((?:message = |message\\(\\) default |\"detail\": )\")([^\"]*)\"");

    private static final Map<String, List<Pattern>> OF_LANGUAGE = Map.of(
            "java", List.of(SLASHES, STAR),
            "kotlin", List.of(SLASHES, STAR),
            "yaml", List.of(HASH),
            "yml", List.of(HASH),
            "properties", List.of(HASH),
            "sh", List.of(HASH),
            "redis", List.of(HASH),
            "sql", List.of(DASHES));

    /**
     * A line of a block.
     *
     * @param code what stands before the comment, without the spaces between
     * @param comment with the characters that begin it; empty if there is none
     */
    private record Line(String code, String comment) {

        static Line of(String line, String language) {
            for (Pattern form : OF_LANGUAGE.getOrDefault(language, List.of())) {
                Matcher found = form.matcher(line);
                if (found.matches()) {
                    return new Line(found.group(1).stripTrailing(), found.group(2));
                }
            }
            return new Line(line, "");
        }

        /** A name or an address is the same in every language. */
        boolean isEnglish() {
            String text =
                    comment.replaceAll("^(?:/\\*\\*?|\\*/|[/*#-]+)|\\*/$", "").strip();
            return text.contains(" ") && text.codePoints().noneMatch(Character::isIdeographic);
        }
    }

    private Comments() {}

    /** With a mark instead of each sentence that a user reads. */
    static String withoutSentences(String code) {
        return SENTENCE.matcher(code).replaceAll("$1<sentence>\"");
    }

    /** The code alone, and for each line whether it has a comment. */
    static List<String> without(List<String> block, String language) {
        return block.stream()
                .map(Comments::withoutSentences)
                .map(text -> Line.of(text, language))
                .map(line -> line.comment.isEmpty() ? line.code : line.code + " <comment>")
                .toList();
    }

    /** The region, with the comments that the page has for the same code in the same order. */
    static List<String> kept(List<String> region, List<String> page, String language) {
        Map<String, List<String>> present = new LinkedHashMap<>();
        List<String> of = without(page, language);
        for (int i = 0; i < of.size(); i++) {
            present.computeIfAbsent(of.get(i), code -> new ArrayList<>()).add(page.get(i));
        }
        List<String> kept = new ArrayList<>();
        List<String> codes = without(region, language);
        for (int i = 0; i < codes.size(); i++) {
            List<String> lines = present.getOrDefault(codes.get(i), new ArrayList<>());
            kept.add(lines.isEmpty() ? region.get(i) : lines.remove(0));
        }
        return kept;
    }

    static List<String> english(List<String> block, String language) {
        List<String> english = new ArrayList<>();
        for (String text : block) {
            Line line = Line.of(text, language);
            if (line.isEnglish()) {
                english.add(line.comment);
            }
            SENTENCE.matcher(text)
                    .results()
                    .map(sentence -> sentence.group(2))
                    .filter(sentence -> sentence.codePoints().noneMatch(Character::isIdeographic))
                    .forEach(english::add);
        }
        return english;
    }
}
