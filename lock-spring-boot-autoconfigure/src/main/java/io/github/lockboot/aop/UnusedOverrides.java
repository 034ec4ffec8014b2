package io.github.lockboot.aop;

import java.util.Locale;
import java.util.Set;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** Logs groups in {@code lock.locks} that no annotation has. Code may have them, which is not known before it runs. */
final class UnusedOverrides {

    private static final Log log = LogFactory.getLog(DistributedLockValidator.class);

    private UnusedOverrides() {}

    /** @param used the groups of all annotations, in the order in which they are suggested */
    static void log(Set<String> configured, Set<String> used) {
        for (String group : configured) {
            if (used.contains(group)) {
                continue;
            }
            String unused = "lock.locks.[" + group + "] is for no @DistributedLock here";
            used.stream()
                    .filter(other -> areAlike(group, other))
                    .findFirst()
                    .ifPresentOrElse(
                            other -> log.warn(unused + "; did you mean lock.locks.[" + other + "]?"),
                            () -> log.info(unused + ", so it is only for LockOptions.withGroup(\"" + group + "\")"));
        }
    }

    /** Whether both have the same letters, or the one is the method of the other's {@code Class.method}. */
    private static boolean areAlike(String group, String used) {
        return lettersOf(used).equals(lettersOf(group)) || used.endsWith("." + group);
    }

    private static String lettersOf(String text) {
        return text.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N}]", "");
    }
}
