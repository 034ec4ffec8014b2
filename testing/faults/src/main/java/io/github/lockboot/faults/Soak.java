package io.github.lockboot.faults;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockboot.faults.Footprint.Figure;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import org.jspecify.annotations.Nullable;

/**
 * Injects one fault after the other, in random order, into the same processes, which use locks, readers and permits and
 * stand for a role. There is a group of processes on one server, one on Sentinel and one on a Cluster, side by side.
 * One process of each group lives from the beginning to the end; its {@link Footprint} is taken between the faults.
 */
final class Soak {

    /**
     * A row of the catalogue, together with what is before and after it; one that is rarely run takes as many times as
     * long.
     */
    private static final Duration A_ROW = Duration.ofSeconds(10);

    /** Other work may slow the machine down for a while. */
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /** Before that classes are loaded and code is compiled. */
    private static final Duration SETTLED_AFTER = Duration.ofMinutes(10);

    private static final int SAMPLES = 200;
    private static final int MOST_FAILURES = 5;

    /** What came of a row so far. */
    record Suffered(int times, int late, long worstRecoveryNanos, long overlapNanos, long refused) {

        private Suffered plus(RunResult result) {
            return new Suffered(
                    times + 1,
                    late + (result.late().isEmpty() ? 0 : 1),
                    Math.max(worstRecoveryNanos, result.recoveryNanos()),
                    Math.max(overlapNanos, result.overlapNanos()),
                    refused + result.refused());
        }
    }

    private final Duration time;
    private final long seed;
    private final List<String> violations = new ArrayList<>();
    private final Map<String, Suffered> suffered = new LinkedHashMap<>();
    private final List<String> leftOut = new ArrayList<>();
    private final List<Group<?>> groups;
    private final List<String> unjudged = new ArrayList<>();
    private RunResult.Told told = RunResult.Told.NOTHING;
    private volatile boolean broken;

    /** @param faults those to run, separated by commas, or null for all */
    Soak(Duration time, long seed, @Nullable String faults) {
        this.time = time;
        this.seed = seed;
        this.groups = Stream.of(
                        new Group<>("one server", Standalone::forEverything, 4, 2, Faults.STANDALONE, faults),
                        new Group<>("Sentinel", SentinelGroup::new, 3, 2, FailoverFaults.SENTINEL, faults),
                        new Group<>("Cluster", ClusterOfThree::new, 3, 0, FailoverFaults.CLUSTER, faults))
                .filter(group -> !group.rows.isEmpty())
                .<Group<?>>map(group -> group)
                .toList();
    }

    /** Returns when all groups have ended; after a failure in one, the others end with the fault that they are at. */
    void run() throws InterruptedException {
        ExecutorService executor = Executors.newFixedThreadPool(groups.size());
        List<Callable<Void>> tasks = new ArrayList<>();
        groups.forEach(group -> tasks.add(() -> {
            group.run();
            return null;
        }));
        try {
            for (Future<Void> ended : executor.invokeAll(tasks)) {
                ended.get();
            }
        } catch (ExecutionException failure) {
            throw new IllegalStateException("the soak itself failed", failure.getCause());
        } finally {
            executor.shutdownNow();
        }
    }

    Duration time() {
        return time;
    }

    long seed() {
        return seed;
    }

    /** What is wrong, but for what a {@linkplain RunResult#late slow machine} explains. */
    synchronized List<String> violations() {
        return List.copyOf(violations);
    }

    /**
     * Runs that the machine was too slow for: a process, Sentinels or a Cluster were not ready in time. All begin anew
     * then.
     */
    List<String> unjudged() {
        return unjudged;
    }

    /** By the name of the fault. */
    Map<String, Suffered> suffered() {
        return suffered;
    }

    RunResult.Told told() {
        return told;
    }

    /** Rows of the catalogue that no group can run, with the reason. */
    List<String> leftOut() {
        return leftOut;
    }

    List<Group<?>> groups() {
        return groups;
    }

    private synchronized void book(String group, Fault<?> fault, RunResult result) {
        suffered.merge(fault.name(), new Suffered(0, 0, 0, 0, 0).plus(result), (before, one) -> before.plus(result));
        told = told.plus(result.told());
        System.out.println(group + ": " + fault + ", seed " + result.seed() + ", " + result.grants() + " grants, "
                + result.recoveryNanos() / 1_000_000 + " ms");
        for (String violation : result.violations()) {
            String line = group + ", " + fault + ", seed " + result.seed() + ": " + violation;
            System.out.println("  " + line);
            if (!result.isJudged()) {
                unjudged.add(line);
            } else if (!result.late().contains(violation)) {
                violations.add(line);
            }
        }
    }

    private synchronized void unjudge(String why) {
        System.out.println(why);
        unjudged.add(why);
    }

    private synchronized void complain(String group, List<String> complaints) {
        complaints.forEach(complaint -> violations.add(group + ": " + complaint));
    }

    /** Processes on one deployment, and the rows that can happen to it. */
    final class Group<D extends Deployment> {

        private final String name;
        private final Supplier<D> deployment;
        private final int processes;
        private final int connections;
        private final List<Fault<D>> rows;
        private final Random random;
        private final List<Fault<D>> deck = new ArrayList<>();
        private final Course course = new Course();
        private int runs;
        private long end;
        private long nextSample = System.nanoTime();

        /** @param connections that each process has, or 0 if that depends */
        private Group(
                String name,
                Supplier<D> deployment,
                int processes,
                int connections,
                List<Fault<D>> rows,
                @Nullable String faults) {
            this.name = name;
            this.deployment = deployment;
            this.processes = processes;
            this.connections = connections;
            this.rows = new ArrayList<>(rows);
            this.rows.removeIf(
                    row -> faults != null && !List.of(faults.split(",")).contains(row.name()));
            this.random = new Random(seed + name.hashCode());
        }

        String name() {
            return name;
        }

        int processes() {
            return processes;
        }

        Course course() {
            return course;
        }

        private void run() throws Exception {
            boolean done = false;
            int failures = 0;
            try {
                while (!done && !broken) {
                    try {
                        done = runOnOneBed();
                    } catch (IllegalStateException notReady) {
                        if (++failures == MOST_FAILURES) {
                            throw notReady;
                        }
                        unjudge(name + ": " + notReady.getMessage());
                    }
                    done |= end != 0 && System.nanoTime() - end > 0;
                }
            } finally {
                broken |= !done;
            }
            if (time.compareTo(SETTLED_AFTER) >= 0) {
                complain(name, course.growth());
            }
        }

        /** @return whether the time is over; if not, the bed is of no more use */
        private boolean runOnOneBed() throws Exception {
            try (TestBed<D> bed =
                    new TestBed<>(deployment.get(), Contestant.THIS_LIBRARY, 64, processes, true, PATIENCE)) {
                leaveOut(bed.deployment());
                bed.refresh();
                course.forget();
                bed.workers()
                        .get(0)
                        .tell(FaultWorker.AT_ONCE + " collect 500"); // its heap is as large as ever from now on
                end = end == 0 ? System.nanoTime() + time.toNanos() : end;
                for (Fault<D> row = next(); row != null; row = next()) {
                    RunResult result = new Runner<>(row, Contestant.THIS_LIBRARY).attempt(bed, seed + runs++);
                    book(name, row, result);
                    if (!result.hasRecovered()) {
                        return false;
                    }
                    if (System.nanoTime() - nextSample > 0) {
                        nextSample = System.nanoTime() + time.dividedBy(SAMPLES).toNanos();
                        try {
                            sample(bed);
                        } catch (IllegalStateException | UncheckedIOException | RedisProbe.ErrorReply noAnswer) {
                            System.out.println(name + ": not measured: " + noAnswer);
                        }
                    }
                }
                complain(name, bed.leftovers());
                return true;
            }
        }

        private void leaveOut(D redis) {
            rows.removeIf(row -> {
                String why = row.isStrict()
                        ? "its processes serve in strict order, those of the soak do not"
                        : ClockFaults.ALL.contains(row) && redis instanceof Standalone one && !one.hasClock()
                                ? "a Redis with a clock of its own could not be made here"
                                : null;
                if (why != null) {
                    leftOut.add("`" + row.name() + "`: " + why);
                }
                return why != null;
            });
        }

        /** Each row comes once before one comes again; null once none of those to come would end in time. */
        private @Nullable Fault<D> next() {
            if (deck.isEmpty()) {
                deck.addAll(rows);
                Collections.shuffle(deck, random);
            }
            long left = broken ? 0 : end - System.nanoTime();
            Fault<D> next = deck.stream()
                    .filter(row -> A_ROW.multipliedBy(row.cost()).toNanos() <= left)
                    .findFirst()
                    .orElse(null);
            deck.remove(next);
            return next;
        }

        private void sample(TestBed<D> bed) {
            bed.refresh();
            if (connections > 0) {
                awaitConnections(bed);
            }
            ObservedWorker lasting = bed.workers().get(0);
            lasting.tell(FaultWorker.AT_ONCE + " sample");
            String said = lasting.awaitSaid(FaultWorker.SAMPLE, PATIENCE);
            Map<Figure, Long> footprint = Footprint.parse(said);
            footprint.put(Figure.CONNECTIONS, connections(bed));
            footprint.put(
                    Figure.KEYS,
                    sum(
                            bed,
                            probe -> TestBed.sizeOf(
                                    probe.command("KEYS", bed.contestant().key("*")))));
            System.out.println(name + ": " + footprint.values() + " " + said);
            course.add(footprint);
        }

        private void awaitConnections(TestBed<D> bed) {
            try {
                Await.until(
                        PATIENCE,
                        () -> connections(bed) == (long) connections * processes,
                        () -> connections(bed) + " connections of " + processes + " processes");
            } catch (IllegalStateException others) {
                String clients = bed.deployment().masters().stream()
                        .map(Group::clientsOf)
                        .collect(Collectors.joining("\n"));
                complain(name, List.of(others.getMessage() + ":\n" + clients));
            }
        }

        /** Their names tell the processes, their ids the order, and age, idle and cmd what each is for. */
        private static String clientsOf(RedisServer server) {
            try (RedisProbe probe = server.probe()) {
                return server.port() + "\n" + probe.command("CLIENT", "LIST");
            }
        }

        private long connections(TestBed<D> bed) {
            return sum(bed, TestBed::connections);
        }

        private long sum(TestBed<D> bed, ToLongFunction<RedisProbe> figure) {
            long sum = 0;
            for (RedisServer server : bed.deployment().masters()) {
                try (RedisProbe probe = server.probe()) {
                    sum += figure.applyAsLong(probe);
                }
            }
            return sum;
        }
    }
}
