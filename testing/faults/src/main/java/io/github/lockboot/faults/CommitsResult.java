package io.github.lockboot.faults;

import java.util.List;

/**
 * What came of a {@link CommitsFault}; a line of the results file.
 *
 * @param transactions in each of which the lock was lost
 * @param refused of which the caller got the loss
 * @param committed all the same
 */
record CommitsResult(String fault, int transactions, int refused, int committed) {

    /** What this library did wrong. */
    List<String> violations() {
        return refused == transactions && committed == 0
                ? List.of()
                : List.of(fault + ": of " + transactions + " transactions, " + refused + " were refused, and "
                        + committed + " committed");
    }

    String toLine() {
        return String.join("\t", fault, "" + transactions, "" + refused, "" + committed);
    }

    static CommitsResult parse(String line) {
        String[] words = line.split("\t");
        return new CommitsResult(
                words[0], Integer.parseInt(words[1]), Integer.parseInt(words[2]), Integer.parseInt(words[3]));
    }
}
