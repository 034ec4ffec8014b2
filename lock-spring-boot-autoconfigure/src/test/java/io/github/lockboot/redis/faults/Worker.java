package io.github.lockboot.redis.faults;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;

import io.github.lockboot.Actor;
import io.github.lockboot.LockOptions;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.TestRegistries;
import io.github.lockboot.redis.faults.Event.Kind;

/**
 * A JVM with one registry, connected when it says so, told by lines on its standard input what to do, that writes its event log to its standard output. A
 * line is {@code <thread> <what> <arguments>}; threads are named by whoever writes, and each does one thing after the other.
 *
 * <pre>
 * lock NAME | tryLock NAME MILLIS | isHeld NAME | unlock NAME
 * load SECONDS LOCKS SEED FILE
 * </pre>
 */
public final class Worker {

    /** How a worker is set up; handed over as the arguments of its main method. */
    record Setup(String name, String host, int port, long ttlMillis, long pollMillis, int handoffLimit) {

        static Setup parse(String... args) {
            return new Setup(
                    args[0],
                    args[1],
                    Integer.parseInt(args[2]),
                    Long.parseLong(args[3]),
                    Long.parseLong(args[4]),
                    Integer.parseInt(args[5]));
        }

        List<String> toArgs() {
            return List.of(name, host, "" + port, "" + ttlMillis, "" + pollMillis, "" + handoffLimit);
        }

        RedisLockRegistry.Builder apply(RedisLockRegistry.Builder builder) {
            return builder.retryInterval(Duration.ofMillis(pollMillis))
                    .localHandoffLimit(handoffLimit)
                    .defaults(LockOptions.defaults().withTtl(Duration.ofMillis(ttlMillis)));
        }
    }

    static final String READY = "ready";

    private final Setup setup;
    private final RedisLockRegistry registry;
    private final ScheduledExecutorService interrupter = Executors.newSingleThreadScheduledExecutor();
    private final Map<String, Actor> threads = new HashMap<>();
    private final Map<String, Participant> participants = new HashMap<>();
    private final Consumer<Event> log = event -> System.out.println(event.toLine());

    private Worker(Setup setup) {
        this.setup = setup;
        this.registry = TestRegistries.at(setup.host(), setup.port()).registry(setup::apply);
    }

    public static void main(String[] args) throws Exception {
        Worker worker = new Worker(Setup.parse(args));
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Actor.await("connected", () -> Fleet.canLock(worker.registry, "connecting-" + worker.setup.name()));
        System.out.println(READY);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            worker.perform(line.split(" "));
        }
        System.exit(0);
    }

    private void perform(String... words) {
        String thread = words[0];
        Participant participant =
                participants.computeIfAbsent(thread, t -> new Participant(registry, setup.name() + "/" + t, log));
        threads.computeIfAbsent(thread, t -> new Actor())
                .begin(() -> perform(participant, words))
                .whenComplete((none, failure) -> {
                    if (failure != null) {
                        System.out.println(thread + " " + words[1] + ": " + failure);
                    }
                });
    }

    private void perform(Participant participant, String... words) throws Exception {
        String lock = words[2];
        switch (words[1]) {
            case "lock" -> participant.lock(lock);
            case "tryLock" -> participant.tryLock(lock, Duration.ofMillis(Long.parseLong(words[3])));
            case "isHeld" -> participant.isHeld(lock);
            case "unlock" -> participant.unlock(lock);
            case "load" -> load(participant, words);
            default -> throw new IllegalArgumentException(words[1]);
        }
    }

    private void load(Participant participant, String... words) throws Exception {
        int locks = Integer.parseInt(words[3]);
        Counters counters = Counters.in(Path.of(words[5]), locks);
        long[] counted = new Load(participant, counters, locks, Long.parseLong(words[4]), interrupter)
                .run(Duration.ofSeconds(Long.parseLong(words[2])));
        for (int i = 0; i < locks; i++) {
            String who = setup.name() + "/" + words[0];
            log.accept(new Event(System.nanoTime(), who, Kind.DONE, Load.lock(i), who + "-done-" + i, counted[i], 0));
        }
    }
}
