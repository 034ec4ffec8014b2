package io.github.lockboot;

import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Random input made to break things, the same for the same seed: {@code -Dlock.fuzz.seed} takes another,
 * {@code -Dlock.fuzz.factor} makes so many times as much of it.
 */
public final class Fuzz {

    private static final long SEED = Long.getLong("lock.fuzz.seed", 1);
    private static final int FACTOR = Integer.getInteger("lock.fuzz.factor", 1);

    /** What may not stand in a line of a log. */
    private static final Pattern FORGING = Pattern.compile("[\\p{Cc}\\p{Cf}\\u2028\\u2029]");

    private static final List<String> PIECES = List.of(
            "a",
            "b",
            "0",
            "-1",
            "18446744073709551616",
            ":",
            "\\",
            "::",
            "\\:",
            "{",
            "}",
            "{}",
            "{a}",
            "-",
            ".",
            " ",
            "  ",
            "*",
            "?",
            "[a-z]",
            "'",
            "\"",
            "%s",
            "${jndi:ldap://127.0.0.1/x}",
            "#{T(java.lang.Runtime)}",
            "lock:",
            "client:",
            "flights",
            "flight:",
            "null",
            "true",
            "é",
            "e\u0301",
            "锁",
            "🧧",
            "\u0660",
            "\u00a0",
            "\t",
            "\r\n",
            "\n2026-01-01 00:00:00 INFO forged",
            "\u0000",
            "\u0007",
            "\u001b[31m",
            "\u007f",
            "\u0085",
            "\u200b",
            "\u2028",
            "\u2029",
            "\u202e",
            "\ufeff",
            "\ufffd",
            "\uffff",
            "\ud83e",
            "\udde7",
            new String(Character.toChars(0xe0041)));

    private final Random random;

    private Fuzz(Random random) {
        this.random = random;
    }

    /** Does it so many times, times the factor, with input of its own; what goes wrong names the input. */
    public static void times(int count, String what, Consumer<Fuzz> test) {
        long start = System.nanoTime();
        Fuzz fuzz = new Fuzz(new Random());
        for (long i = 0; i < (long) count * FACTOR; i++) {
            fuzz.random.setSeed(SEED * 1_000_000_007 + i);
            try {
                test.accept(fuzz);
            } catch (RuntimeException | AssertionError failure) {
                throw new AssertionError(what + ", -Dlock.fuzz.seed=" + SEED + ", input " + i, failure);
            }
        }
        Figures.report(
                "fuzz: %s: %d inputs, seed %d, %d ms", what, (long) count * FACTOR, SEED, Figures.millisSince(start));
    }

    public Random random() {
        return random;
    }

    public int below(int bound) {
        return random.nextInt(bound);
    }

    @SafeVarargs
    public final <T> T oneOf(T... choices) {
        return choices[below(choices.length)];
    }

    /** Text of at most so many pieces, which may be empty, and need not be well-formed. */
    public String text(int mostPieces) {
        StringBuilder text = new StringBuilder();
        for (int left = below(mostPieces + 1); left > 0; left--) {
            if (below(8) == 0) {
                text.append((char) below(0x10000));
            } else {
                text.append(PIECES.get(below(PIECES.size())));
            }
        }
        return text.toString();
    }

    /** The text with something in it changed, lost or doubled. */
    public String mutated(String text) {
        int from = below(text.length() + 1);
        int to = Math.min(text.length(), from + below(4));
        return switch (below(4)) {
            case 0 -> text.substring(0, from) + text.substring(to);
            case 1 -> text.substring(0, to) + text.substring(from);
            case 2 -> text.substring(0, from) + text(2) + text.substring(to);
            default -> text.substring(0, from) + (char) below(0x80) + text.substring(to);
        };
    }

    /** Whether nobody who reads the text takes it for two lines, or for other than it is. */
    public static boolean isOneHonestLine(String text) {
        return !FORGING.matcher(text).find();
    }
}
