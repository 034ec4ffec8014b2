package io.github.lockboot.harness;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** The working tree that a run is of. */
public final class Checkout {

    private Checkout() {}

    /** {@return its commit, with a word if it has changes; "unknown" without git} */
    public static String commit() {
        try {
            Process git = new ProcessBuilder("git", "describe", "--always", "--exclude=*", "--dirty=, changed").start();
            String said = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return said.isEmpty() ? "unknown" : said;
        } catch (IOException noGit) {
            return "unknown";
        }
    }
}
