package io.github.lockboot.faults;

/**
 * What came of a {@link HandOversFault}; a line of the results file.
 *
 * @param handedOver of how many rounds the giver got the text
 * @param takenOver of how many a taker got the lease
 * @param freeMillis how long the lock was not granted after its last holder had ended, at worst
 * @param violated of how many something was wrong
 */
record HandOversResult(String fault, int rounds, int handedOver, int takenOver, long freeMillis, int violated) {

    String toLine() {
        return String.join("\t", fault, "" + rounds, "" + handedOver, "" + takenOver, "" + freeMillis, "" + violated);
    }

    static HandOversResult parse(String line) {
        String[] words = line.split("\t");
        return new HandOversResult(
                words[0],
                Integer.parseInt(words[1]),
                Integer.parseInt(words[2]),
                Integer.parseInt(words[3]),
                Long.parseLong(words[4]),
                Integer.parseInt(words[5]));
    }
}
