package io.github.lockboot.faults;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.stream.Stream;

import io.github.lockboot.faults.Event.Kind;
import io.github.lockboot.harness.Contender;
import io.github.lockboot.harness.RedisAddress;
import io.github.lockboot.harness.Worker;

/**
 * A JVM with one application instance's locks, told by lines on its standard input what to do, that writes its event
 * log to its standard output. A line is {@code <thread> <what> <arguments>}; threads are named by whoever writes, each
 * does one thing after the other and says DONE after each. What is told to {@code *} happens at once, beside them.
 *
 * <pre>
 * load LOCK STYLE TRIES SEED LIMIT,...   takes it with one of these limits at random, until so many tries are done or the lock is stopped
 * hold LOCK [LIMIT]            takes the lock and works under it until it is released
 * once LOCK                    takes the lock, works one step, releases it
 * stand LOCK SEED              stands for the role whose leader holds the lock until it is stopped
 * * release LOCK | * stop LOCK | * in-use | * sample | * close | * refresh ADDRESS | * collect MILLIS | * saturate MILLIS
 * </pre>
 */
public final class FaultWorker {

    /** How a worker is set up; handed over as the arguments of its main method. */
    record Setup(String name, Contestant contestant, RedisAddress redis, int witness, int handoffLimit) {

        static Setup parse(String... args) {
            return new Setup(
                    args[0],
                    Contestant.withId(args[1]),
                    RedisAddress.parse(args[2]),
                    Integer.parseInt(args[3]),
                    Integer.parseInt(args[4]));
        }

        List<String> toArgs() {
            return List.of(name, contestant.id(), redis.toWord(), "" + witness, "" + handoffLimit);
        }
    }

    static final String CLOSED = "closed ";
    static final String IN_USE = "in use ";
    static final String SAMPLE = "sample ";
    static final String REFRESHED = "refreshed";
    static final String AT_ONCE = "*";

    /** What its lines begin with that are waited for; others, but for events, are its log. */
    static final List<String> ANSWERS = List.of(CLOSED, IN_USE, SAMPLE, REFRESHED);

    private static final long STEP_NANOS = Duration.ofMillis(3).toNanos();
    private static final long END_NANOS = Duration.ofSeconds(15).toNanos();

    private final Setup setup;
    private final Contender.Client client;
    private final ScheduledExecutorService interrupter = Executors.newScheduledThreadPool(1, FaultWorker::daemon);
    private final Map<String, ExecutorService> threads = new ConcurrentHashMap<>();
    private final Map<String, WitnessClient> witnesses = new ConcurrentHashMap<>();
    private final Map<String, Boolean> stopped = new ConcurrentHashMap<>();
    private final Map<String, Boolean> released = new ConcurrentHashMap<>();
    private final Map<String, Candidate> candidates = new ConcurrentHashMap<>();
    private volatile boolean closing;
    private final Consumer<Event> log = event -> System.out.println(event.toLine());

    private FaultWorker(Setup setup, Contender.Client client) {
        this.setup = setup;
        this.client = client;
    }

    public static void main(String[] args) {
        Setup setup = Setup.parse(args);
        Worker.run(
                setup.contestant().contender(setup.handoffLimit()),
                setup.redis(),
                client -> new FaultWorker(setup, client)::perform);
    }

    private void perform(String line) {
        perform(line.split(" "));
    }

    private void perform(String... words) {
        if (words[0].equals(AT_ONCE)) {
            performAtOnce(words);
            return;
        }
        threads.computeIfAbsent(words[0], t -> Executors.newSingleThreadExecutor(FaultWorker::daemon))
                .execute(() -> {
                    long result = perform(words[0], words);
                    log.accept(new Event(
                            System.nanoTime(), setup.name() + "/" + words[0], Kind.DONE, words[2], "-", 1, result, 0));
                });
    }

    private long perform(String thread, String... words) {
        String lock = words[2];
        WitnessClient witness = witnesses.computeIfAbsent(thread, t -> new WitnessClient(setup.witness()));
        IntFunction<Participant> withLimit =
                limit -> new Participant(client, witness, setup.name() + "/" + thread, lock, limit, log);
        Participant participant =
                withLimit.apply(words[1].equals("hold") && words.length > 3 ? Integer.parseInt(words[3]) : 1);
        try {
            switch (words[1]) {
                case "load" -> {
                    long tries = Long.parseLong(words[4]);
                    long[] done = {0};
                    List<Participant> kinds = Stream.of(words[6].split(","))
                            .map(limit -> withLimit.apply(Integer.parseInt(limit)))
                            .toList();
                    return new Load(kinds, Load.Style.valueOf(words[3]), Long.parseLong(words[5]), interrupter)
                            .runWhile(() -> done[0]++ < tries && !stopped.containsKey(lock));
                }
                case "hold" -> {
                    participant.lock();
                    while (!released.containsKey(lock) && participant.work(STEP_NANOS)) {
                        // The step is in the condition.
                    }
                    participant.unlock();
                }
                case "once" -> {
                    participant.lock();
                    participant.work(STEP_NANOS);
                    participant.unlock();
                }
                case "stand" -> {
                    Candidate candidate = new Candidate(
                            client.election(Candidate.roleOf(lock)),
                            setup.name() + "/" + thread,
                            Long.parseLong(words[3]),
                            log);
                    candidates.put(thread, candidate);
                    candidate.standWhile(() -> !closing && !stopped.containsKey(lock));
                    candidates.remove(thread);
                }
                default -> throw new IllegalArgumentException(words[1]);
            }
        } catch (InterruptedException | RuntimeException failure) {
            System.out.println(thread + " " + words[1] + ": " + failure);
        }
        return 0;
    }

    private void performAtOnce(String... words) {
        switch (words[1]) {
            case "release" -> released.put(words[2], true);
            case "stop" -> stopped.put(words[2], true);
            case "in-use" -> System.out.println(IN_USE + client.inUse());
            case "close" ->
                beside(() -> {
                    closing = true; // as an application context does, which stops leaders first
                    candidates.values().forEach(Candidate::awaitLeft);
                    client.close();
                    System.out.println(CLOSED + threadsLeft());
                });
            case "refresh" ->
                beside(() -> {
                    client.refresh(RedisAddress.parse(words[2]));
                    System.out.println(REFRESHED);
                });
            case "sample" -> beside(() -> System.out.println(SAMPLE + Footprint.ofThisProcess()));
            case "collect" -> beside(() -> Burden.collectFor(Duration.ofMillis(Long.parseLong(words[2]))));
            case "saturate" -> Burden.saturate(ForkJoinPool.commonPool(), Duration.ofMillis(Long.parseLong(words[2])));
            default -> throw new IllegalArgumentException(words[1]);
        }
    }

    /**
     * Threads that this library started and that do not end. An election is never closed: its timer's ends 10 s after
     * the last task.
     */
    private static long threadsLeft() {
        long end = System.nanoTime() + END_NANOS;
        long left = threads();
        while (left > 0 && System.nanoTime() - end < 0) {
            Pause.nanos(STEP_NANOS);
            left = threads();
        }
        return left;
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("lock-") && !name.startsWith("lock-leader-timer"))
                .count();
    }

    private static void beside(Runnable task) {
        daemon(task).start();
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    }
}
