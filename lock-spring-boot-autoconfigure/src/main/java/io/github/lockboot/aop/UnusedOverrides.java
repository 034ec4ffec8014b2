package io.github.lockboot.aop;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.github.lockboot.LockOptions;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Tells of names in {@code lock.locks} that no annotation has. Code may have them, by {@link LockOptions#withGroup}, which is
 * not known before it runs; so it is a warning only where an annotation has a name much like it.
 */
final class UnusedOverrides {

    private static final Log log = LogFactory.getLog(DistributedLockValidator.class);

    private UnusedOverrides() {}

    /** @param options what the annotations ask for */
    static void tell(Set<String> names, Collection<LockOptions> options) {
        if (names.isEmpty()) {
            return;
        }
        Set<String> groups = options.stream().map(LockOptions::group).collect(Collectors.toCollection(TreeSet::new));
        for (String name : names) {
            if (groups.contains(name)) {
                continue;
            }
            String unused = "lock.locks.[" + name + "] is for no @DistributedLock here";
            List<String> alike =
                    groups.stream().filter(group -> areAlike(name, group)).toList();
            if (alike.isEmpty()) {
                log.info(unused + ", so it is only for LockOptions.withGroup(\"" + name + "\")");
            } else {
                log.warn(unused + "; did you mean "
                        + alike.stream().map("lock.locks.[%s]"::formatted).collect(Collectors.joining(" or ")) + "?");
            }
        }
    }

    /** Whether one may have been written for the other: spelled otherwise, a few letters wrong, or only a part of it. */
    static boolean areAlike(String name, String group) {
        String one = lettersOf(name);
        String other = lettersOf(group);
        int longer = Math.max(one.length(), other.length());
        boolean part = one.length() >= 4 && (other.startsWith(one) || other.endsWith(one));
        return part || distance(one, other) <= Math.max(1, longer / 4);
    }

    private static String lettersOf(String text) {
        return text.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N}]", "");
    }

    /** How many letters must be put in, left out or changed (Levenshtein). */
    private static int distance(String one, String other) {
        int[] row = new int[other.length() + 1];
        for (int j = 0; j <= other.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= one.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= other.length(); j++) {
                int changed = diagonal + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(changed, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[other.length()];
    }
}
