package io.github.lockboot.redis.faults;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.lockboot.Actor;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.faults.Event.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Four processes with four threads each on a few locks. {@code -Dlock.faults.seconds} says how long; the default is 60. */
class MutualExclusionTests {

    private static final int PROCESSES = 4;
    private static final int THREADS = 4;
    private static final int LOCKS = 3;
    private static final int SECONDS = Integer.getInteger("lock.faults.seconds", 60);

    @Test
    void atMostOneOfManyProcessesBelievesToHoldALock(@TempDir Path folder) {
        Path file = folder.resolve("counters");
        Counters counters = Counters.in(file, LOCKS);
        List<WorkerProcess> workers = new ArrayList<>();
        List<Event> history = new ArrayList<>();
        long seed = System.nanoTime();
        try (RedisServer server = RedisServer.start()) {
            for (int i = 0; i < PROCESSES; i++) {
                workers.add(WorkerProcess.start(
                        new Worker.Setup("p" + i, server.host(), server.port(), 10_000, 2_000, i % 2 == 0 ? 64 : 0)));
            }
            for (WorkerProcess worker : workers) {
                worker.awaitReady();
                for (int t = 0; t < THREADS; t++) {
                    worker.tell("t" + t + " load " + SECONDS + " " + LOCKS + " " + seed++ + " " + file);
                }
            }
            workers.forEach(worker -> worker.await(
                    "done",
                    Duration.ofSeconds(SECONDS + 30),
                    () -> worker.events().stream()
                                    .filter(event -> event.is(Kind.DONE))
                                    .count()
                            == THREADS * LOCKS));
            Actor.await("no key is left", () -> server.command("DBSIZE").equals(0L));
            workers.forEach(worker -> history.addAll(worker.events()));
        } finally {
            workers.forEach(WorkerProcess::close);
        }
        Figures.report(
                "mutual exclusion: %d s, %d grants, %d given up, %d lost",
                SECONDS,
                history.stream().filter(event -> event.is(Kind.GRANTED)).count(),
                history.stream().filter(event -> event.is(Kind.FAILED)).count(),
                history.stream().filter(event -> event.is(Kind.LOST)).count());
        assertThat(HistoryChecker.violationsOf(history)).isEmpty();
        for (int i = 0; i < LOCKS; i++) {
            String lock = Load.lock(i);
            long counted = history.stream()
                    .filter(event -> event.is(Kind.DONE) && event.lock().equals(lock))
                    .mapToLong(Event::token)
                    .sum();
            assertThat(counters.get(i)).as("counter of " + lock).isEqualTo(counted);
            assertThat(counted).isPositive();
        }
    }
}
