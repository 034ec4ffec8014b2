package io.github.lockboot.internal;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.StringJoiner;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Makes, checks and formats lock names. A name may be personal data and may contain any character. */
public final class LockNames {

    /** The longest name of a lock, in characters. */
    public static final int MAX_LENGTH = 1024;

    private static final int SHOWN_BYTES = 6;

    /** Control and format characters, unpaired surrogates, line separators and backslashes. */
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\\\]");

    private static final Pattern VARIABLE = Pattern.compile("(?<![\\p{L}\\p{Nd}])#[\\p{L}_]");

    private LockNames() {}

    /**
     * {@return the name that the annotation gives a lock: the keys after the name, each after a colon, with a backslash
     * before every colon and backslash in a key} So under one name two different lists of keys never give the same
     * lock, and a single key never gives that of a longer name. Without a name a single key stays as it is, and the
     * first of several takes the place of the name.
     *
     * @param name literal text; empty for none
     * @param keys texts that may come from anybody
     */
    public static String join(String name, String... keys) {
        if (name.isEmpty() && keys.length == 1) {
            return keys[0];
        }
        StringJoiner joined = new StringJoiner(":");
        if (!name.isEmpty()) {
            joined.add(name);
        }
        for (String key : keys) {
            joined.add(key.replace("\\", "\\\\").replace(":", "\\:"));
        }
        return joined.toString();
    }

    /**
     * {@return twelve hexadecimal digits of the name's SHA-256: the same wherever the lock is talked of, and not the
     * name}
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
     * {@return the name on one line: control and format characters, line separators, unpaired surrogates and
     * backslashes as {@code \}{@code uXXXX}; different names are shown differently}
     *
     * @param name of a lock
     */
    public static String printable(String name) {
        return UNPRINTABLE.matcher(name).replaceAll(found -> escaped(found.group()));
    }

    /** With two backslashes, of which the matcher leaves one. */
    private static String escaped(String character) {
        return character
                .chars()
                .mapToObj(unit -> "\\\\u" + HexFormat.of().toHexDigits((char) unit))
                .collect(Collectors.joining());
    }

    /**
     * {@return the name, if a lock may have it} Half of a surrogate pair has no UTF-8, so all names with one in the
     * same place would be one key in Redis.
     *
     * @param name of a lock
     * @throws IllegalArgumentException if it is empty, longer than {@link #MAX_LENGTH}, or not well-formed Unicode
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
     * {@return whether a # that is not within a word begins one, as in {@code order:#id}} That is a variable of an
     * expression, in a place where no expression is evaluated.
     *
     * @param name literal text
     */
    public static boolean hasVariable(String name) {
        return VARIABLE.matcher(name).find();
    }
}
