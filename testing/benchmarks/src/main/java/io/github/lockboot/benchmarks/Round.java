package io.github.lockboot.benchmarks;

/**
 * One round as it is told to a worker: a load, when to begin, and when to stop: after a time, or, if {@code turns} is not 0, when
 * each thread has had so many turns.
 */
record Round(Load load, long startEpochMillis, long millis, int turns) {

    String encode() {
        return load.threads() + " " + load.names() + " " + load.holds() + " " + load.isVirtual() + " "
                + startEpochMillis + " " + millis + " " + turns;
    }

    static Round parse(String line) {
        String[] words = line.split(" ");
        Load load = new Load(
                Integer.parseInt(words[0]),
                Integer.parseInt(words[1]),
                Integer.parseInt(words[2]),
                Boolean.parseBoolean(words[3]));
        return new Round(load, Long.parseLong(words[4]), Long.parseLong(words[5]), Integer.parseInt(words[6]));
    }
}
