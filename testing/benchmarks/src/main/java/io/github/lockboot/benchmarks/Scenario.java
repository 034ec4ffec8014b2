package io.github.lockboot.benchmarks;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

import io.github.lockboot.benchmarks.Load.Kind;
import io.github.lockboot.harness.Contender;

import static io.github.lockboot.benchmarks.Contenders.JDK;
import static io.github.lockboot.benchmarks.Contenders.LOCK4J;
import static io.github.lockboot.benchmarks.Contenders.OURS;
import static io.github.lockboot.benchmarks.Contenders.OURS_ACKNOWLEDGED;
import static io.github.lockboot.benchmarks.Contenders.OURS_LINGERING;
import static io.github.lockboot.benchmarks.Contenders.OURS_SENT;
import static io.github.lockboot.benchmarks.Contenders.OURS_STRICT;
import static io.github.lockboot.benchmarks.Contenders.RAW;
import static io.github.lockboot.benchmarks.Contenders.RAW_NATIVE;
import static io.github.lockboot.benchmarks.Contenders.RFAIR;
import static io.github.lockboot.benchmarks.Contenders.RLOCK;
import static io.github.lockboot.benchmarks.Contenders.RMULTI;
import static io.github.lockboot.benchmarks.Contenders.RREAD_WRITE;
import static io.github.lockboot.benchmarks.Contenders.RSEMAPHORE;
import static io.github.lockboot.benchmarks.Contenders.SI_PUB_SUB;
import static io.github.lockboot.benchmarks.Contenders.SI_SPIN;

/** What is done to the locks, where, and by whom; in an order that lets processes be used again. */
enum Scenario {
    COLD("one thread, the first 1,000 holds of a new JVM", 1_000, Load.threads(1), List.of(RAW, OURS, RLOCK)),
    WARMING(
            "16 threads, 10,000 distinct names, the first 160,000 holds of a new JVM",
            10_000,
            Load.threads(16).onNames(10_000),
            List.of(RAW, OURS)),
    UNCONTENDED("one thread, uncontended", 1, Load.threads(1), false, withOptions()),
    NESTED("one thread, five nested holds", 1, Load.threads(1).holding(5), false, reentrant()),
    DISTINCT("16 threads, 10,000 distinct names", 1, Load.threads(16).onNames(10_000), false, withSent()),
    HALF_RATE("16 threads, 10,000 distinct names, due at half of the raw loop's rate", 0.5, withSent()),
    HIGH_RATE("16 threads, 10,000 distinct names, due at nine tenths of the raw loop's rate", 0.9, withSent()),
    COPIED(
            "16 threads, 10,000 distinct names, a replica",
            1,
            Load.threads(16).onNames(10_000),
            false,
            List.of(OURS, OURS_ACKNOWLEDGED, RLOCK)),
    ONE_JVM("16 threads of one JVM, one name", 1, Load.threads(16), false, withJdk()),
    UNCONTENDED_REMOTE("one thread, uncontended, 0.5 ms round trip", 1, Load.threads(1), true, withOptions()),
    ONE_JVM_REMOTE("16 threads of one JVM, one name, 0.5 ms round trip", 1, Load.threads(16), true, withJdk()),
    FOUR_JVMS("4 JVMs of 4 threads, one name", 4, Load.threads(4), false, withStrict()),
    FOUR_JVMS_REMOTE("4 JVMs of 4 threads, one name, 0.5 ms round trip", 4, Load.threads(4), true, withStrict()),
    FOUR_JVMS_WORKING(
            "4 JVMs of 4 threads, one name, 5 ms of work under the lock",
            4,
            Load.threads(4).of(Kind.WORKING),
            false,
            List.of(RAW, OURS, RLOCK, SI_PUB_SUB, LOCK4J)),
    TAKE_OVER(
            "2 JVMs of one thread that pauses before each turn",
            2,
            Load.threads(1).of(Kind.PAUSING),
            false,
            List.of(OURS, OURS_LINGERING, RLOCK)),
    READERS("4 JVMs of 4 threads, one name, 95 % reads", 4, Load.threads(4).of(Kind.READERS), false, readWrite()),
    PERMITS("4 JVMs of 4 threads, 4 permits of one name", 4, Load.threads(4).of(Kind.PERMITS), false, limited()),
    WRITER("4 JVMs of 16 readers, one writer", 4, Load.threads(16).of(Kind.WRITER), false, readWrite()),
    SEVERAL("one thread, 20 names at once", 1, Load.threads(1).of(Kind.SEVERAL), false, several()),
    SEVERAL_REMOTE(
            "one thread, 20 names at once, 0.5 ms round trip",
            1,
            Load.threads(1).of(Kind.SEVERAL),
            true,
            several()),
    VIRTUAL(
            "10,000 virtual threads, 100 names",
            1,
            Load.threads(10_000).onNames(100).virtual(),
            false,
            everybody());

    private final String title;
    private final int processes;
    private final Load load;
    private final boolean remote;
    private final List<Contender> contenders;
    private final double share;
    private final int firstTurns;

    /** Each round is the first of a new process: so many turns of each thread. */
    Scenario(String title, int firstTurns, Load load, List<Contender> contenders) {
        this.title = title;
        this.processes = 1;
        this.load = load;
        this.remote = false;
        this.contenders = contenders;
        this.share = 0;
        this.firstTurns = firstTurns;
    }

    /** An open loop: turns are due at a share of the rate that the raw loop reaches in {@link #DISTINCT}. */
    Scenario(String title, double share, List<Contender> contenders) {
        this.title = title;
        this.processes = 1;
        this.load = Load.threads(16).onNames(10_000);
        this.remote = false;
        this.contenders = contenders;
        this.share = share;
        this.firstTurns = 0;
    }

    Scenario(String title, int processes, Load load, boolean remote, List<Contender> contenders) {
        this.title = title;
        this.processes = processes;
        this.load = load;
        this.remote = remote;
        this.contenders = contenders;
        this.share = 0;
        this.firstTurns = 0;
    }

    /** Its name on the command line. */
    String id() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    String title() {
        return title;
    }

    int processes() {
        return processes;
    }

    /** What each process does. */
    Load load() {
        return load;
    }

    /** At which share of the raw loop's rate turns are due; 0 in a closed loop. */
    double share() {
        return share;
    }

    /** Whether Redis is reached through the slow proxy. */
    boolean isRemote() {
        return remote;
    }

    /** Whether Redis is a master with a replica, and Sentinels. */
    boolean isCopied() {
        return this == COPIED;
    }

    /** Whether each round is the first of new processes. */
    boolean isCold() {
        return firstTurns > 0;
    }

    /**
     * How many turns each thread takes in a new process; 0 if processes are warm, and go on for the time of a round.
     */
    int firstTurns() {
        return firstTurns;
    }

    boolean isContended() {
        return processes * load.threads() > load.names();
    }

    List<Contender> contenders() {
        return contenders;
    }

    static Scenario withId(String id) {
        return Arrays.stream(values())
                .filter(scenario -> scenario.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no scenario is called " + id));
    }

    private static List<Contender> everybody() {
        return List.of(RAW, OURS, RLOCK, RFAIR, SI_SPIN, SI_PUB_SUB, LOCK4J);
    }

    private static List<Contender> withSent() {
        return List.of(RAW, RAW_NATIVE, OURS, OURS_SENT, RLOCK, RFAIR, SI_SPIN, SI_PUB_SUB, LOCK4J);
    }

    private static List<Contender> withOptions() {
        return List.of(RAW, RAW_NATIVE, OURS, OURS_SENT, OURS_LINGERING, RLOCK, RFAIR, SI_SPIN, SI_PUB_SUB, LOCK4J);
    }

    private static List<Contender> reentrant() {
        return List.of(OURS, RLOCK, RFAIR, SI_SPIN, SI_PUB_SUB);
    }

    private static List<Contender> readWrite() {
        return List.of(OURS, OURS_STRICT, RREAD_WRITE);
    }

    private static List<Contender> limited() {
        return List.of(OURS, OURS_STRICT, RSEMAPHORE);
    }

    private static List<Contender> several() {
        return List.of(OURS, RMULTI);
    }

    private static List<Contender> withJdk() {
        return List.of(RAW, OURS, RLOCK, RFAIR, SI_SPIN, SI_PUB_SUB, LOCK4J, JDK);
    }

    private static List<Contender> withStrict() {
        return List.of(RAW, OURS, OURS_STRICT, RLOCK, RFAIR, SI_SPIN, SI_PUB_SUB, LOCK4J);
    }
}
