package io.github.lockboot.harness;

/** Tables, and pages that show what was measured. */
public final class Markdown {

    private Markdown() {}

    /** A row of a table. */
    public static String row(String... cells) {
        return "| " + String.join(" | ", cells) + " |\n";
    }

    /** The page with this text between {@code <!-- marker -->} and {@code <!-- /marker -->}. */
    public static String replaced(String page, String marker, String text) {
        String begin = "<!-- " + marker + " -->";
        int from = page.indexOf(begin) + begin.length();
        int to = page.indexOf("<!-- /" + marker + " -->");
        return page.substring(0, from) + "\n" + text + page.substring(to);
    }
}
