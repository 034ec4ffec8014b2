package io.github.lockboot.faults;

import java.util.ArrayList;
import java.util.List;

/**
 * What came of a {@link LeasesFault}; a line of the results file.
 *
 * @param before renewals that Redis did in a second before
 * @param after renewals that it did in a second from then on
 * @param lost leases
 * @param stallMillis the longest time in which another lock of the instance was not granted, although a thread wanted
 *     it
 */
record LeasesResult(String fault, long before, long after, long lost, long stallMillis) {

    /** What this library did wrong. */
    List<String> violations() {
        List<String> violations = new ArrayList<>();
        if (lost > 0) {
            violations.add(fault + ": " + lost + " leases were lost");
        }
        if (stallMillis > Scene.PATIENCE.toMillis()) {
            violations.add(fault + ": another lock was not granted for " + Report.seconds(stallMillis));
        }
        return violations;
    }

    String toLine() {
        return String.join("\t", fault, "" + before, "" + after, "" + lost, "" + stallMillis);
    }

    static LeasesResult parse(String line) {
        String[] words = line.split("\t");
        return new LeasesResult(
                words[0],
                Long.parseLong(words[1]),
                Long.parseLong(words[2]),
                Long.parseLong(words[3]),
                Long.parseLong(words[4]));
    }
}
