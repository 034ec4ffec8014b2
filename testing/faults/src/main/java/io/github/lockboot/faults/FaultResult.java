package io.github.lockboot.faults;

import java.util.List;

/**
 * What came of all runs of one fault on one contestant; a line of the results file.
 *
 * @param violated runs with a violation
 * @param unrecovered runs in which the lock was not granted again while anybody looked
 * @param hanging runs in which threads waited for a lock that nobody held
 * @param recoveryMillis the longest recovery of those that recovered
 * @param overlapMillis the longest time for which two believed to hold
 * @param seed of the first run
 */
record FaultResult(
        String fault,
        String contestant,
        int runs,
        int violated,
        int unrecovered,
        int hanging,
        long recoveryMillis,
        long overlapMillis,
        long refused,
        long lost,
        long grants,
        long seed) {

    static FaultResult of(Fault<?> fault, Contestant contestant, List<RunResult> results) {
        return new FaultResult(
                fault.name(),
                contestant.id(),
                results.size(),
                (int) results.stream()
                        .filter(run -> !run.violations().isEmpty())
                        .count(),
                (int) results.stream().filter(run -> !run.hasRecovered()).count(),
                (int) results.stream().filter(run -> run.hanging() > 0).count(),
                results.stream().mapToLong(RunResult::recoveryNanos).max().orElse(0) / 1_000_000,
                results.stream().mapToLong(RunResult::overlapNanos).max().orElse(0) / 1_000_000,
                results.stream().mapToLong(RunResult::refused).sum(),
                results.stream().mapToLong(RunResult::lost).sum(),
                results.stream().mapToLong(RunResult::grants).sum(),
                results.get(0).seed());
    }

    boolean isOf(Fault<?> fault, Contestant one) {
        return this.fault.equals(fault.name()) && contestant.equals(one.id());
    }

    String toLine() {
        return String.join(
                "\t",
                fault,
                contestant,
                "" + runs,
                "" + violated,
                "" + unrecovered,
                "" + hanging,
                "" + recoveryMillis,
                "" + overlapMillis,
                "" + refused,
                "" + lost,
                "" + grants,
                "" + seed);
    }

    static FaultResult parse(String line) {
        String[] words = line.split("\t");
        return new FaultResult(
                words[0],
                words[1],
                Integer.parseInt(words[2]),
                Integer.parseInt(words[3]),
                Integer.parseInt(words[4]),
                Integer.parseInt(words[5]),
                Long.parseLong(words[6]),
                Long.parseLong(words[7]),
                Long.parseLong(words[8]),
                Long.parseLong(words[9]),
                Long.parseLong(words[10]),
                Long.parseLong(words[11]));
    }
}
