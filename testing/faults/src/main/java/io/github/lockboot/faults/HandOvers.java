package io.github.lockboot.faults;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.github.lockboot.LockLostException;
import io.github.lockboot.faults.Event.Kind;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.harness.RedisAddress;
import io.github.lockboot.harness.WorkerProcess;
import org.jspecify.annotations.Nullable;

/**
 * Rounds of one {@link HandOversFault}: a process has a lease and hands it over, another takes it over, and one more
 * waits for the lock all the while.
 */
final class HandOvers implements AutoCloseable {

    /** What a violation contains that is only about time. */
    static final String LATE = " only after ";

    private static final List<String> NAMES = List.of("giver", "taker", "rival", "next");
    private static final Duration QUEUEING = Duration.ofMillis(150);

    /** A process of the scene. */
    static final class Instance extends WorkerProcess {

        private static final Path JDK = Path.of(System.getProperty("java.home"));
        private static final List<String> OPTIONS = List.of(
                "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dlogback.configurationFile=worker-log.xml");

        private final int number;
        private final EventLog log;
        private final BlockingQueue<String> answers;

        private Instance(int number, RedisAddress redis, int witness, EventLog log, BlockingQueue<String> answers) {
            super(
                    JDK,
                    OPTIONS,
                    HandOverWorker.class,
                    List.of(NAMES.get(number), redis.toWord(), "" + witness),
                    line -> log.takes(line) || isAnswer(line) && answers.add(line));
            this.number = number;
            this.log = log;
            this.answers = answers;
        }

        private static boolean isAnswer(String line) {
            return List.of(
                            HandOverWorker.GAVE,
                            HandOverWorker.NOT_GIVEN,
                            HandOverWorker.TOOK,
                            HandOverWorker.NOT_TAKEN,
                            HandOverWorker.RELEASED,
                            HandOverWorker.IN_USE)
                    .stream()
                    .anyMatch(line::startsWith);
        }

        /** What it says next of what it was told. */
        private String answer() {
            try {
                String answer = answers.poll(Scene.PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
                if (answer == null) {
                    throw new IllegalStateException(NAMES.get(number) + " hangs: " + this);
                }
                return answer;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted", e);
            }
        }
    }

    private final HandOversFault fault;
    private final Consumer<String> violations;
    private final Random random;
    private final Standalone redis;
    private final Witness witness = new Witness();
    private final List<Instance> instances = new ArrayList<>();

    private HandOvers(HandOversFault fault, long seed, Consumer<String> violations) {
        this.fault = fault;
        this.violations = violations;
        this.random = new Random(seed);
        this.redis = fault.redis().get();
    }

    /** @param violations what this library did wrong, a sentence each */
    static HandOversResult run(HandOversFault fault, int rounds, long seed, Consumer<String> violations) {
        try (HandOvers scene = new HandOvers(fault, seed, violations)) {
            return scene.run(rounds, seed);
        }
    }

    private HandOversResult run(int rounds, long seed) {
        int handedOver = 0;
        int takenOver = 0;
        int violated = 0;
        long longest = 0;
        for (int i = 0; i < rounds; i++) {
            Round round = new Round(fault.name() + "-" + i);
            List<String> wrong = round.run();
            wrong.forEach(each -> violations.accept(round.lock + ", seed " + seed + ": " + each));
            handedOver += round.did(Kind.HANDING_OVER, Kind.RELEASED) ? 1 : 0;
            takenOver += round.did(Kind.TAKEN_OVER, Kind.TAKEN_OVER) ? 1 : 0;
            violated += wrong.isEmpty() ? 0 : 1;
            longest = Math.max(longest, round.freeNanos);
        }
        return new HandOversResult(fault.name(), rounds, handedOver, takenOver, longest / 1_000_000, violated);
    }

    /** Starts the processes, or those anew that were killed. */
    private void startMissing() {
        List<Instance> started = new ArrayList<>();
        for (int i = 0; i < NAMES.size(); i++) {
            if (i == instances.size() || !instances.get(i).isAlive()) {
                redis.proxy(i).pass();
                Instance instance =
                        new Instance(i, redis.address(i), witness.port(), new EventLog(), new LinkedBlockingQueue<>());
                started.add(instance);
                if (i == instances.size()) {
                    instances.add(instance);
                } else {
                    instances.set(i, instance);
                }
            }
        }
        started.forEach(Instance::awaitReady);
    }

    @Override
    public void close() {
        instances.forEach(Instance::close);
        witness.close();
        redis.close();
    }

    /** One lease, from its grant to the next. */
    final class Round {

        private final String lock;
        private final List<Instance> processes = new ArrayList<>();
        private final List<String> wrong = new ArrayList<>();
        private long freeFrom;
        private long freeNanos;

        private Round(String lock) {
            this.lock = lock;
        }

        private List<String> run() {
            startMissing();
            instances.forEach(each -> {
                each.log.forget();
                each.answers.clear();
            });
            processes.addAll(instances);
            try (ServerWatch watch = new ServerWatch(redis, List.of(lock))) {
                begin();
                fault.way().into(this);
                awaitFree();
                end(watch);
            } catch (IllegalStateException failure) {
                wrong.add("could not be run to its end: " + failure.getMessage());
                instances.forEach(Instance::kill);
            }
            return wrong;
        }

        private void begin() {
            tell(giver(), "hold", "");
            require(giver(), HandOverWorker.TOOK);
            tell(next(), "want", "");
            Await.until(
                    Scene.PATIENCE, () -> next().log.find(Kind.REQUEST, any -> true) != null, () -> "hangs: " + next());
            pass(QUEUEING, QUEUEING.multipliedBy(2));
        }

        // --- what a fault may use -----------------------------------------------------------------------------

        Instance giver() {
            return processes.get(0);
        }

        Instance taker() {
            return processes.get(1);
        }

        Instance rival() {
            return processes.get(2);
        }

        private Instance next() {
            return processes.get(3);
        }

        Standalone redis() {
            return redis;
        }

        TcpProxy proxyOf(Instance instance) {
            return redis.proxy(instance.number);
        }

        /** Lets a time between the two pass, by the seed. */
        void pass(Duration least, Duration most) {
            Pause.nanos(least.toNanos()
                    + (long) (random.nextDouble() * most.minus(least).toNanos()));
        }

        void beginToGive() {
            tell(giver(), "give", "");
        }

        /** What the giver's call has returned; null if Redis did not answer, from when on nobody has the lock. */
        @Nullable
        String given() {
            String answer = giver().answer();
            if (answer.startsWith(HandOverWorker.GAVE)) {
                return answer.substring(HandOverWorker.GAVE.length());
            }
            freeFrom = timeOf(giver(), Kind.RELEASE_FAILED);
            complainOfLoss(answer);
            return null;
        }

        String give() {
            return giveBy(giver());
        }

        String giveBy(Instance instance) {
            tell(instance, "give", "");
            return require(instance, HandOverWorker.GAVE);
        }

        void beginToTake(String text) {
            tell(taker(), "take", text);
        }

        /** Whether the taker's call has got the lease; if Redis did not answer, nobody has the lock from then on. */
        boolean taken() {
            String answer = taker().answer();
            if (answer.startsWith(HandOverWorker.TOOK)) {
                return true;
            }
            freeFrom = timeOf(taker(), Kind.FAILED);
            complainOfLoss(answer);
            return false;
        }

        void take(Instance instance, String text) {
            tell(instance, "take", text);
            require(instance, HandOverWorker.TOOK);
        }

        /** Has both take it over, and returns the one that has it. */
        Instance takeByOneOf(String text, Instance one, Instance other) {
            tell(one, "take", text);
            tell(other, "take", text);
            String ofOne = one.answer();
            String ofOther = other.answer();
            boolean hasIt = ofOne.startsWith(HandOverWorker.TOOK);
            if (hasIt == ofOther.startsWith(HandOverWorker.TOOK)
                    || !(hasIt ? ofOther : ofOne).contains(LockLostException.class.getSimpleName())) {
                wrong.add("one was to have it: " + ofOne + ", " + ofOther);
            }
            return hasIt ? one : other;
        }

        void releaseBy(Instance instance) {
            freeFrom = System.nanoTime();
            tell(instance, "release", "");
            require(instance, HandOverWorker.RELEASED);
        }

        /** SIGKILL; nobody has the lock from then on. */
        void killLastOne(Instance instance) {
            freeFrom = System.nanoTime();
            instance.kill();
        }

        /** Waits until the next one has had the lock. */
        void awaitFree() {
            if (freeNanos > 0) {
                return;
            }
            require(next(), HandOverWorker.TOOK);
            freeNanos = Math.max(1, timeOf(next(), Kind.GRANTED) - freeFrom);
            if (Terms.isOver(fault.promised(), freeNanos)) {
                wrong.add("granted again" + LATE + freeNanos / 1_000_000 + " ms");
            }
            String released = require(next(), HandOverWorker.RELEASED);
            if (!released.isEmpty()) {
                wrong.add("the next one's release: " + released);
            }
        }

        /** Nobody takes anything over with a text whose lease is over. */
        void requireWorthless(String text) {
            tell(rival(), "take", text);
            String answer = rival().answer();
            if (!answer.startsWith(HandOverWorker.NOT_TAKEN + LockLostException.class.getSimpleName())) {
                wrong.add("a text whose lease is over took something: " + answer);
            }
        }

        // --- what the scene does ------------------------------------------------------------------------------

        private void tell(Instance instance, String what, String text) {
            instance.tell(what + " " + lock + " " + text);
        }

        private String require(Instance instance, String beginning) {
            String answer = instance.answer();
            if (!answer.startsWith(beginning)) {
                throw new IllegalStateException(NAMES.get(instance.number) + " said " + answer);
            }
            return answer.substring(beginning.length());
        }

        /** Redis was away for less than a lease. */
        private void complainOfLoss(String answer) {
            if (answer.contains(LockLostException.class.getSimpleName())) {
                wrong.add("lost without a reason: " + answer);
            }
        }

        private long timeOf(Instance instance, Kind kind) {
            Event event = instance.log.find(kind, any -> true);
            if (event == null) {
                throw new IllegalStateException("no " + kind + " in the log of " + instance);
            }
            return event.time();
        }

        private boolean did(Kind first, Kind second) {
            return processes.stream()
                    .anyMatch(each ->
                            each.log.find(first, any -> true) != null && each.log.find(second, any -> true) != null);
        }

        private void end(ServerWatch watch) {
            for (Instance each : instances) {
                if (each.isAlive()) {
                    Await.until(Scene.PATIENCE, () -> inUse(each) == 0, () -> "something stays in use in " + each);
                }
            }
            Await.until(
                    Scene.PATIENCE,
                    () -> TestBed.sizeOf(redis.command("KEYS", Contestant.THIS_LIBRARY.key("*"))) == 0,
                    () -> "a key is left");
            watch.close();
            List<Event> history = new ArrayList<>(watch.events());
            processes.forEach(each -> history.addAll(each.log.events()));
            HistoryChecker checker = HistoryChecker.of(history);
            checker.overlaps().forEach(overlap -> wrong.add(overlap.description()));
            wrong.addAll(checker.breaches());
            wrong.addAll(checker.oldTokens());
            wrong.addAll(checker.lateLosses());
            wrong.addAll(checker.heldWithoutRedis());
            wrong.addAll(witness.account(lock).complaints());
            watch.unbounded().forEach(key -> wrong.add("the key " + key + " had no TTL"));
            history.stream()
                    .filter(event -> event.is(Kind.LOST))
                    .forEach(event -> wrong.add(event.actor() + " lost its hold"));
        }

        private long inUse(Instance instance) {
            instance.answers.clear();
            instance.tell("in-use");
            return Long.parseLong(require(instance, HandOverWorker.IN_USE));
        }
    }
}
