package io.github.lockboot;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** How lock names, which may be personal data and hold any character, are shown to people. */
public final class LockNames {

    private static final int SHOWN_BYTES = 6;

    private LockNames() {}

    /**
     * {@return twelve hexadecimal digits of the name's SHA-256: the same wherever the lock is talked of, and not the name}
     *
     * @param name of a lock
     */
    public static String digest(String name) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash, 0, SHOWN_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * {@return the name on one line: control characters, line separators and backslashes as {@code \}{@code uXXXX}}
     *
     * @param name of a lock
     */
    public static String printable(String name) {
        if (name.chars().allMatch(LockNames::isPrintable)) {
            return name;
        }
        StringBuilder shown = new StringBuilder(name.length() + 16);
        for (char c : name.toCharArray()) {
            if (isPrintable(c)) {
                shown.append(c);
            } else {
                shown.append("\\u").append(HexFormat.of().toHexDigits(c));
            }
        }
        return shown.toString();
    }

    private static boolean isPrintable(int c) {
        int type = Character.getType(c);
        return c != '\\'
                && type != Character.CONTROL
                && type != Character.FORMAT
                && type != Character.LINE_SEPARATOR
                && type != Character.PARAGRAPH_SEPARATOR;
    }
}
