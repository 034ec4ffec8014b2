package io.github.lockboot.faults;

import java.util.ArrayList;
import java.util.List;

/**
 * What came of an {@link OutageFault}; a line of the results file.
 *
 * @param line of Spring Boot
 * @param logBefore bytes that an application logged in {@link Outages#BEFORE}
 * @param log bytes that an application logged in {@link Outages#AWAY}, in which Redis was away
 * @param closeAwayMillis how long an application took to close while Redis was away, or {@link #NEVER}
 * @param grantedMillis from the return of Redis until an application was granted a lock, or {@link #NEVER}
 * @param closeMillis how long that took to close then, or {@link #NEVER}
 */
record OutageResult(
        String fault,
        String line,
        long logBefore,
        long log,
        long closeAwayMillis,
        long grantedMillis,
        long closeMillis) {

    /** Not as long as anybody waited. */
    static final long NEVER = -1;

    /** What this library did wrong. */
    List<String> violations() {
        List<String> violations = new ArrayList<>();
        if (logBefore > 0) {
            violations.add(fault + ": an application logged " + logBefore + " bytes before anything happened");
        }
        if (log > Outages.MOST_LOG) {
            violations.add(fault + ": an application logged " + log + " bytes");
        }
        if (closeAwayMillis == NEVER) {
            violations.add(fault + ": an application did not close while Redis was away");
        }
        if (grantedMillis == NEVER) {
            violations.add(fault + ": no lock was granted once Redis was back");
        }
        if (closeMillis == NEVER) {
            violations.add(fault + ": an application did not close once Redis was back");
        }
        return violations;
    }

    String toLine() {
        return String.join(
                "\t",
                fault,
                line,
                "" + logBefore,
                "" + log,
                "" + closeAwayMillis,
                "" + grantedMillis,
                "" + closeMillis);
    }

    static OutageResult parse(String line) {
        String[] words = line.split("\t");
        return new OutageResult(
                words[0],
                words[1],
                Long.parseLong(words[2]),
                Long.parseLong(words[3]),
                Long.parseLong(words[4]),
                Long.parseLong(words[5]),
                Long.parseLong(words[6]));
    }
}
