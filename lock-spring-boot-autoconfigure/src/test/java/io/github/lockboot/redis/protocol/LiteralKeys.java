package io.github.lockboot.redis.protocol;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What proxies of cloud providers read in the text of a script before they let it run: each command must be a literal,
 * and each of its keys must be an element of {@code KEYS}, not a variable or an expression.
 */
public final class LiteralKeys {

    /** The refusal of such a proxy. */
    public static final String REFUSAL =
            "ERR bad lua script for redis cluster, all the keys that the script uses should be"
                    + " passed using the KEYS array, and KEYS should not be in expression";

    private static final Set<String> WITHOUT_KEYS = Set.of("'TIME'", "'PUBLISH'", "'PUBSUB'");
    private static final Pattern KEY = Pattern.compile("KEYS \\[ \\d+ ]");
    private static final Pattern TOKEN = Pattern.compile("(?s)--\\[\\[.*?]]|--[^\n]*|'(?:\\\\.|[^'\\\\])*'"
            + "|\"(?:\\\\.|[^\"\\\\])*\"|[A-Za-z_]\\w*|\\d[\\w.]*|\\.\\.|\\S");

    private LiteralKeys() {}

    /** {@return the calls of a script that such a proxy refuses} */
    public static List<String> refused(String script) {
        List<String> tokens = TOKEN.matcher(script)
                .results()
                .map(MatchResult::group)
                .filter(token -> !token.startsWith("--"))
                .toList();
        List<String> refused = new ArrayList<>();
        for (int i = 0; i < tokens.size(); i++) {
            if (tokens.get(i).equals("redis")) {
                List<String> call = callAt(i, tokens);
                if (!isAllowed(call)) {
                    refused.add("redis" + call.stream().collect(Collectors.joining(" ", " ", "")));
                }
            }
        }
        return refused;
    }

    /** What is behind {@code redis}, up to the end of the call. */
    private static List<String> callAt(int start, List<String> tokens) {
        int end = start + 4;
        for (int depth = 1; depth > 0 && end < tokens.size(); end++) {
            depth += "([{".contains(tokens.get(end)) ? 1 : ")]}".contains(tokens.get(end)) ? -1 : 0;
        }
        return tokens.subList(start + 1, Math.min(end, tokens.size()));
    }

    private static boolean isAllowed(List<String> call) {
        String text = String.join(" ", call);
        if (!text.matches("(?s)\\. p?call \\( '.*") || text.contains(" redis ")) {
            return false;
        }
        String arguments = text.replaceFirst("\\. p?call \\( '\\w+' ,? ?", "");
        String others = WITHOUT_KEYS.contains(call.get(3))
                ? arguments
                : KEY.matcher(arguments).replaceFirst("");
        boolean begins = WITHOUT_KEYS.contains(call.get(3)) || others.startsWith(" ,") || others.startsWith(" )");
        return begins && !others.contains("KEYS");
    }
}
