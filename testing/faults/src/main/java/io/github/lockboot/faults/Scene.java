package io.github.lockboot.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockboot.faults.Event.Kind;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.harness.Contender.Client;
import org.jspecify.annotations.Nullable;

/**
 * One run of one fault: processes that want one lock, and what a fault may do to them and to their Redis. Processes of
 * this library also use a read-write lock and a lock of two or three permits, and stand for a role, all the while; the
 * keys of all share a slot.
 */
final class Scene<D extends Deployment> {

    /** The usual {@link #patience}. */
    static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final String HOLDER = "holder";
    private static final List<String> THREADS = List.of("a", "b");
    private static final Duration WARM_UP = Duration.ofSeconds(3);
    private static final Duration QUEUEING = Duration.ofMillis(300);

    /** What has to be undone after the run. */
    interface Step {
        void run() throws Exception;
    }

    private final TestBed<D> bed;
    private final String lock;

    /** The limits that each further lock is taken with, by its name; one that comes more often is taken more often. */
    private final Map<String, List<Integer>> beside = new LinkedHashMap<>();

    /** The name of the lock that the leader of a role holds, if the processes stand for one. */
    private @Nullable String leaders;

    private final Random random;
    private final List<String> late = new ArrayList<>();
    private final List<String> complaints = new ArrayList<>();
    private final List<Step> afterwards = new ArrayList<>();
    private final List<Begun> begun = new ArrayList<>();
    private @Nullable ObservedWorker holder;
    private boolean released;
    private boolean unboundedKeysPermitted;
    private int hanging;
    private long recoveryFrom;
    private Duration notGranting = Duration.ZERO;

    /** What a thread was told to do with a lock, and may not have done yet. */
    private record Begun(ObservedWorker worker, String lock) {}

    Scene(TestBed<D> bed, String fault, long seed) {
        this.bed = bed;
        this.lock = "{" + fault + "-" + seed + "}";
        this.random = new Random(seed);
        if (bed.contestant().isOurs()) {
            int permits = 2 + random.nextInt(2);
            beside.put(lock + "-read-write", List.of(1, Client.UNLIMITED, Client.UNLIMITED));
            beside.put(lock + "-permits", List.of(1, permits, permits, permits, permits, permits));
            leaders = Candidate.lockOf(lock + "-role");
        }
    }

    // --- what a fault may use ---------------------------------------------------------------------------------

    D redis() {
        return bed.deployment();
    }

    Random random() {
        return random;
    }

    /** How long to wait for what comes soon or never. */
    Duration patience() {
        return bed.patience();
    }

    /** The name of the lock. */
    String lock() {
        return lock;
    }

    /** The names of all locks. */
    List<String> locks() {
        List<String> all = new ArrayList<>(List.of(lock));
        all.addAll(beside.keySet());
        if (leaders != null) {
            all.add(leaders);
        }
        return all;
    }

    /** The key of the lock in Redis. */
    String key() {
        return bed.contestant().key(lock);
    }

    /** The keys of all locks. */
    List<String> keys() {
        return locks().stream().map(bed.contestant()::key).toList();
    }

    Contestant contestant() {
        return bed.contestant();
    }

    /** All processes; the index of one is the number of its proxy. */
    List<ObservedWorker> workers() {
        return bed.workers();
    }

    /** Who holds the lock in a scene that starts with a held one. */
    ObservedWorker holder() {
        if (holder == null) {
            throw new IllegalStateException("nobody was told to hold the lock");
        }
        return holder;
    }

    int indexOfHolder() {
        return workers().indexOf(holder());
    }

    /** The processes that do not hold it, in any order; without one that is to outlive the fault. */
    List<ObservedWorker> others() {
        List<ObservedWorker> others = new ArrayList<>(workers().stream()
                .filter(worker -> worker != holder && !bed.isLasting(worker))
                .toList());
        Collections.shuffle(others, random);
        return others;
    }

    /** One of those. */
    ObservedWorker waiter() {
        return others().get(0);
    }

    /** Lets the holder release what it holds. Recovery counts from now, unless it counts already. */
    void release() {
        released = true;
        if (recoveryFrom == 0) {
            recoveryFromNow();
        }
        locks().forEach(each -> holder().tell(FaultWorker.AT_ONCE + " release " + each));
    }

    /** Waits until the holder has released or failed to, which its log tells. */
    void awaitReleased() {
        holder().await(
                        patience(),
                        Kind.DONE,
                        event -> event.actor().equals(holder().name() + "/" + HOLDER)
                                && event.lock().equals(lock));
    }

    void pass(Duration time) {
        Pause.of(time);
    }

    /** A time between the two, by the seed. */
    Duration between(Duration least, Duration most) {
        return least.plusNanos((long) (random.nextDouble() * most.minus(least).toNanos()));
    }

    /** Has recovery count from now, instead of from the end of the fault. */
    void recoveryFromNow() {
        recoveryFrom = System.nanoTime();
    }

    /** Counts as a violation if it is not so. */
    void require(boolean condition, String complaint) {
        if (!condition) {
            complaints.add(complaint);
        }
    }

    /** Waits until the lock is granted again. It counts as a violation if that takes this library longer. */
    void requireGrantWithin(Duration bound) {
        long nanos = untilGranted(lock, 1, System.nanoTime() + patience().toNanos());
        if (contestant().isOurs() && Terms.isOver(bound, nanos)) {
            late.add("granted again only after " + nanos / 1_000_000 + " ms");
        }
    }

    /**
     * For some of this time, Redis was away, or another was to have the lock. A thread may have waited for it in
     * addition.
     */
    void couldNotGrant(Duration time) {
        notGranting = notGranting.plus(time);
    }

    /** How long a thread may have waited for a lock. */
    Duration longestWait() {
        return patience().plus(notGranting);
    }

    /** Counts as a violation if a process logs more than this until the load has ended. */
    void requireLogAtMost(long bytes) {
        afterwards(() -> workers()
                .forEach(worker -> require(
                        worker.loggedBytes() <= bytes,
                        worker.name() + " logged " + worker.loggedBytes() + " bytes, more than " + bytes)));
    }

    /** Keys may lack a TTL because the fault takes it away. */
    void permitUnboundedKeys() {
        unboundedKeysPermitted = true;
    }

    /** Mends afterwards what the fault leaves broken. */
    void afterwards(Step step) {
        afterwards.add(step);
    }

    /** Tells a thread of a worker something that it says DONE after. */
    void tell(ObservedWorker worker, String thread, String what) {
        begun.add(new Begun(worker, what.split(" ")[1]));
        worker.tell(thread + " " + what);
    }

    /** Has two more threads of each process load the lock, each with so many tries at most. */
    void load(Load.Style style, long tries) {
        load(style, tries, lock, List.of(1));
    }

    /** Has two more threads of each process load each of the other locks. */
    void loadBeside(Load.Style style) {
        beside.forEach((other, limits) -> load(style, Long.MAX_VALUE, other, limits));
    }

    private void load(Load.Style style, long tries, String name, List<Integer> limits) {
        String kinds = limits.stream().map(String::valueOf).collect(Collectors.joining(","));
        for (ObservedWorker worker : workers()) {
            for (String thread : THREADS) {
                tell(
                        worker,
                        style.name().toLowerCase(Locale.ROOT) + "-" + thread + nickname(name),
                        "load " + name + " " + style + " " + tries + " " + random.nextLong() + " " + kinds);
            }
        }
    }

    /** What the name of one of the other locks adds to that of the lock. */
    private String nickname(String name) {
        return name.substring(lock.length());
    }

    /** Waits until the load of the lock is through with its tries, and stops what is not after this time. */
    void awaitLoad(Duration atMost) {
        long end = System.nanoTime() + atMost.toNanos();
        while (System.nanoTime() - end < 0 && !workers().stream().allMatch(worker -> hasDone(worker, List.of(lock)))) {
            Pause.of(Duration.ofMillis(20));
        }
        workers().forEach(worker -> worker.tell(FaultWorker.AT_ONCE + " stop " + lock));
    }

    /** Whether a process has done what it was told to do with these locks. */
    private boolean hasDone(ObservedWorker worker, List<String> with) {
        long told = begun.stream()
                .filter(one -> one.worker() == worker && with.contains(one.lock()))
                .count();
        long done = worker.log().events().stream()
                .filter(event -> event.is(Kind.DONE) && with.contains(event.lock()))
                .count();
        return done >= told;
    }

    // --- what the runner does ---------------------------------------------------------------------------------

    void begin(Fault.Start start) {
        loadBeside(Load.Style.STEADY);
        String role = leaders;
        if (role != null) {
            workers().forEach(worker -> tell(worker, "candidate", "stand " + role + " " + random.nextLong()));
        }
        if (start == Fault.Start.HELD || start == Fault.Start.DOOMED) {
            List<ObservedWorker> mayHold = workers().stream()
                    .filter(worker -> start == Fault.Start.HELD || !bed.isLasting(worker))
                    .toList();
            ObservedWorker chosen = mayHold.get(random.nextInt(mayHold.size()));
            holder = chosen;
            tell(chosen, HOLDER, "hold " + lock);
            beside.forEach((other, limits) -> tell(
                    chosen,
                    HOLDER + nickname(other),
                    "hold " + other + " " + limits.get(random.nextInt(limits.size()))));
            Stream.concat(Stream.of(lock), beside.keySet().stream())
                    .forEach(each -> chosen.await(
                            patience(),
                            Kind.HELD,
                            event -> event.actor().equals(chosen.name() + "/" + HOLDER + nickname(each))));
        }
        if (start != Fault.Start.QUIET) {
            load(Load.Style.STEADY, Long.MAX_VALUE);
        }
        if (start == Fault.Start.LOAD) {
            long end = System.nanoTime() + WARM_UP.toNanos();
            while (System.nanoTime() - end < 0 && !workers().stream().allMatch(this::hasBeenGranted)) {
                Pause.of(Duration.ofMillis(20));
            }
        }
        Pause.of(between(QUEUEING, QUEUEING.multipliedBy(2)));
    }

    private boolean hasBeenGranted(ObservedWorker worker) {
        return worker.log().find(Kind.GRANTED, event -> event.lock().equals(lock)) != null;
    }

    /**
     * Does the fault and waits until the lock is granted again, and each of the others with each of its limits.
     *
     * @return how long the first took, or {@link RunResult#NEVER}
     */
    long suffer(Fault<D> fault) throws Exception {
        recoveryFrom = 0;
        fault.way().into(this);
        if (recoveryFrom == 0) {
            recoveryFromNow();
        }
        if (holder != null && !released && holder.isUsable()) {
            release();
        }
        long end = System.nanoTime() + patience().toNanos();
        long recovery = untilGranted(lock, 1, end);
        if (Terms.isOver(fault.bound(), recovery)) {
            late.add("granted again only after " + recovery / 1_000_000 + " ms");
        }
        beside.forEach((other, limits) ->
                limits.stream().distinct().forEach(limit -> awaitOther(other, limit, end, fault.boundOfKinds())));
        if (leaders != null) {
            awaitOther(leaders, 1, end, fault.boundOfKinds());
        }
        return recovery;
    }

    private void awaitOther(String other, int limit, long end, Duration bound) {
        long nanos = untilGranted(other, limit, end);
        String what = other + " with limit " + limit + " was granted again ";
        require(nanos != RunResult.NEVER, what + "never");
        if (Terms.isOver(bound, nanos)) {
            late.add(what + "only after " + nanos / 1_000_000 + " ms");
        }
    }

    private long untilGranted(String name, int limit, long end) {
        Long next = nextGrant(name, limit);
        while (next == null && System.nanoTime() - end < 0) {
            Pause.of(Duration.ofMillis(5));
            next = nextGrant(name, limit);
        }
        return next == null ? RunResult.NEVER : next - recoveryFrom;
    }

    private @Nullable Long nextGrant(String name, int limit) {
        Long first = null;
        for (ObservedWorker worker : workers()) {
            Event grant = worker.log()
                    .find(
                            Kind.GRANTED,
                            event -> event.time() > recoveryFrom
                                    && event.limit() == limit
                                    && event.lock().equals(name));
            if (grant != null && (first == null || grant.time() < first)) {
                first = grant.time();
            }
        }
        return first;
    }

    /** Ends the load and waits for its threads; those who do not come to an end are complained of. */
    void end() throws Exception {
        Pause.of(QUEUEING);
        List<ObservedWorker> living =
                workers().stream().filter(ObservedWorker::isUsable).toList();
        locks().forEach(each -> living.forEach(worker -> worker.tell(FaultWorker.AT_ONCE + " stop " + each)));
        locks().forEach(each -> living.forEach(worker -> worker.tell(FaultWorker.AT_ONCE + " release " + each)));
        for (ObservedWorker worker : living) {
            try {
                Await.until(patience(), () -> hasDone(worker, locks()), () -> "hangs: " + worker);
            } catch (IllegalStateException late) {
                complaints.add(String.valueOf(late.getMessage()));
                hanging++;
                worker.kill();
            }
        }
        for (Step step : afterwards) {
            step.run();
        }
    }

    List<String> complaints() {
        return complaints;
    }

    /** What was granted again later than promised. */
    List<String> late() {
        return late;
    }

    /** Processes with threads that did not come to an end when told to. */
    int hanging() {
        return hanging;
    }

    boolean unboundedKeysPermitted() {
        return unboundedKeysPermitted;
    }

    /** The events of all processes. */
    Collection<Event> history() {
        List<Event> all = new ArrayList<>();
        workers().forEach(worker -> all.addAll(worker.log().events()));
        return all;
    }
}
