package io.github.lockboot.internal;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Makes, checks and formats lock names. A name may be personal data and may contain any character. */
public final class LockNames {

    /** The longest name of a lock, in characters. */
    public static final int MAX_LENGTH = 1024;

    private static final int SHOWN_BYTES = 6;

    private LockNames() {}

    /**
     * {@return the name that the annotation gives a lock: the keys after the name, each after a colon, with a backslash
     * before every colon and backslash in a key} So under one name two different lists of keys never give the same lock, and
     * a single key never gives that of a longer name. Without a name a single key stays as it is, and the first of several takes the
     * place of the name.
     *
     * @param name literal text; empty for none
     * @param keys texts that may come from anybody
     */
    public static String join(String name, String... keys) {
        if (name.isEmpty() && keys.length == 1) {
            return keys[0];
        }
        StringBuilder joined = new StringBuilder(name);
        for (int i = 0; i < keys.length; i++) {
            if (i > 0 || !name.isEmpty()) {
                joined.append(':');
            }
            joined.append(keys[i].replace("\\", "\\\\").replace(":", "\\:"));
        }
        return joined.toString();
    }

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
     * {@return the name on one line: control and format characters, line separators, unpaired surrogates and backslashes as
     * {@code \}{@code uXXXX}; different names are shown differently}
     *
     * @param name of a lock
     */
    public static String printable(String name) {
        if (name.codePoints().allMatch(LockNames::isPrintable)) {
            return name;
        }
        StringBuilder shown = new StringBuilder(name.length() + 16);
        name.codePoints().forEach(c -> {
            if (isPrintable(c)) {
                shown.appendCodePoint(c);
            } else {
                for (char unit : Character.toChars(c)) {
                    shown.append("\\u").append(HexFormat.of().toHexDigits(unit));
                }
            }
        });
        return shown.toString();
    }

    /**
     * {@return the name, if a lock may have it} Half of a surrogate pair has no UTF-8, so all names with one in the same place would
     * be one key in Redis.
     *
     * @param name of a lock
     * @throws IllegalArgumentException if it is empty, longer than {@link #MAX_LENGTH}, or not well-formed
     *     Unicode
     */
    public static String valid(String name) {
        if (name.isEmpty()) {
            throw new IllegalArgumentException("the lock name is empty");
        }
        if (name.length() > MAX_LENGTH) {
            throw new IllegalArgumentException("the lock name has " + name.length() + " characters, at most "
                    + MAX_LENGTH + " are allowed; use a digest of what it names");
        }
        for (int i = 0; i < name.length(); i++) {
            if (Character.isSurrogate(name.charAt(i))) {
                if (Character.charCount(name.codePointAt(i)) == 1) {
                    throw new IllegalArgumentException("the lock name has half a surrogate pair at index " + i
                            + "; what it was made from is not well-formed Unicode");
                }
                i++;
            }
        }
        return name;
    }

    /**
     * {@return whether a # that is not within a word begins one, as in {@code order:#id}} That is a variable of an expression, in a
     * place where no expression is evaluated.
     *
     * @param name literal text
     */
    public static boolean hasVariable(String name) {
        for (int at = name.indexOf('#'); at >= 0 && at < name.length() - 1; at = name.indexOf('#', at + 1)) {
            char next = name.charAt(at + 1);
            boolean within = at > 0 && Character.isLetterOrDigit(name.charAt(at - 1));
            if (!within && (Character.isLetter(next) || next == '_')) {
                return true;
            }
        }
        return false;
    }

    private static boolean isPrintable(int c) {
        int type = Character.getType(c);
        return c != '\\'
                && type != Character.CONTROL
                && type != Character.FORMAT
                && type != Character.SURROGATE
                && type != Character.LINE_SEPARATOR
                && type != Character.PARAGRAPH_SEPARATOR;
    }
}
