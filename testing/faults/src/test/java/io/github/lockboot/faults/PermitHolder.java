package io.github.lockboot.faults;

import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;

import io.github.lockboot.harness.Contender;
import io.github.lockboot.harness.RedisAddress;
import io.github.lockboot.harness.Worker;
import io.github.lockboot.harness.WorkerProcess;

/** A process in which each of many threads takes a permit and keeps it until the process is killed. */
final class PermitHolder extends WorkerProcess {

    /** A permit of one thread: when it was granted, and until when the thread last believed to have it. */
    record Hold(long since, long until) {

        private Hold later(Hold other) {
            return new Hold(since, other.until);
        }
    }

    private static final String HELD = "held ";
    private static final long SAYS_AGAIN_NANOS = 50_000_000;

    private final Map<String, Hold> holds;

    private PermitHolder(RedisAddress redis, Map<String, Hold> holds) {
        super(
                Path.of(System.getProperty("java.home")),
                List.of("-XX:+UseSerialGC"),
                PermitHolder.class,
                List.of(redis.toWord()),
                line -> isHold(line, holds));
        this.holds = holds;
    }

    PermitHolder(RedisAddress redis) {
        this(redis, new ConcurrentHashMap<>());
    }

    private static boolean isHold(String line, Map<String, Hold> holds) {
        boolean held = line.startsWith(HELD);
        if (held) {
            String[] words = line.split(" ");
            holds.merge(words[1], new Hold(Long.parseLong(words[2]), Long.parseLong(words[3])), Hold::later);
        }
        return held;
    }

    /** Those who have had a permit. */
    Collection<Hold> holds() {
        return holds.values();
    }

    /** Has so many threads take one of as many permits each. */
    void take(String lock, int permits) {
        tell(lock + " " + permits);
    }

    public static void main(String[] args) {
        Worker.run(Contestant.THIS_LIBRARY.contender(0), RedisAddress.parse(args[0]), client -> order -> {
            String[] words = order.split(" ");
            int permits = Integer.parseInt(words[1]);
            for (int i = 0; i < permits; i++) {
                int number = i;
                new Thread(() -> hold(client, client.lock(words[0], permits), number)).start();
            }
        });
    }

    private static void hold(Contender.Client client, Lock permit, int number) {
        permit.lock();
        while (client.isHeld(permit)) {
            System.out.println(HELD + number + " " + System.nanoTime() + " " + client.validUntil(permit));
            Pause.nanos(SAYS_AGAIN_NANOS);
        }
    }
}
