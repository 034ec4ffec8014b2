package io.github.lockboot.benchmarks;

/**
 * One round as it is told to a worker: a load, when to begin, and when to stop: after a time, or, if {@code turns} is
 * not 0, when each thread has had so many turns.
 *
 * @param process the worker's number among those of its team
 */
record Round(Load load, long startEpochMillis, long millis, int turns, int process) {

    String encode() {
        return load.threads() + " " + load.names() + " " + load.holds() + " " + load.isVirtual() + " " + load.kind()
                + " " + load.perSecond() + " " + startEpochMillis + " " + millis + " " + turns + " " + process;
    }

    static Round parse(String line) {
        String[] words = line.split(" ");
        Load load = new Load(
                Integer.parseInt(words[0]),
                Integer.parseInt(words[1]),
                Integer.parseInt(words[2]),
                Boolean.parseBoolean(words[3]),
                Load.Kind.valueOf(words[4]),
                Integer.parseInt(words[5]));
        return new Round(
                load,
                Long.parseLong(words[6]),
                Long.parseLong(words[7]),
                Integer.parseInt(words[8]),
                Integer.parseInt(words[9]));
    }

    /** In this process. */
    int threads() {
        return load.threads() + (load.kind() == Load.Kind.WRITER && process == 0 ? 1 : 0);
    }

    /** Whether this thread is the only writer beside readers. */
    boolean isWriter(int thread) {
        return thread == load.threads();
    }
}
