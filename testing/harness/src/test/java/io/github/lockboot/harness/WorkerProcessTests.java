package io.github.lockboot.harness;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

import io.github.lockboot.harness.WorkerProcess.FailedException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Workers whose lock is the JDK's, so that they need no Redis. */
class WorkerProcessTests {

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final Queue<String> taken = new ConcurrentLinkedQueue<>();
    private final WorkerProcess worker = new WorkerProcess(
            Path.of(System.getProperty("java.home")),
            List.of("-Xmx64m"),
            Repeater.class,
            List.of(),
            line -> line.startsWith("event ") && taken.add(line));

    @AfterEach
    void end() {
        worker.close();
    }

    @Test
    void itSaysThatItHasConnectedAndAnswers() {
        worker.awaitReady();
        worker.tell("say nothing new");
        worker.tell("say done 7");
        assertThat(worker.awaitSaid("done ", PATIENCE)).isEqualTo("7");
    }

    @Test
    void whatIsTakenIsNotWaitedFor() {
        worker.tell("say event 1");
        worker.tell("say done");
        worker.awaitSaid("done", PATIENCE);
        assertThat(taken).containsExactly("event 1");
    }

    @Test
    void whoWaitsLearnsWhyItFailed() {
        worker.awaitReady();
        worker.tell("throw too bad");
        fails("done ", PATIENCE, "java.lang.IllegalStateException: too bad");
    }

    @Test
    void whoWaitsLearnsThatItWasKilled() {
        worker.awaitReady();
        worker.kill();
        assertThat(worker.isAlive()).isFalse();
        fails("done ", PATIENCE, "the process ended");
    }

    @Test
    void aWaitEnds() {
        worker.awaitReady();
        fails("done ", Duration.ZERO, "not done within 0 s");
    }

    private void fails(String awaited, Duration atMost, String reason) {
        assertThatExceptionOfType(FailedException.class)
                .isThrownBy(() -> worker.awaitSaid(awaited, atMost))
                .withMessage(reason);
    }

    /** Says or throws what it is told. */
    static final class Repeater {

        public static void main(String[] args) {
            Worker.run(new InProcess(), RedisAddress.standalone("nowhere", 1), client -> order -> {
                String text = order.substring(order.indexOf(' ') + 1);
                if (order.startsWith("throw ")) {
                    throw new IllegalArgumentException("hidden", new IllegalStateException(text + "\nand more"));
                }
                System.out.println(text);
            });
        }
    }

    private record InProcess() implements Contender {

        @Override
        public String name() {
            return "in process";
        }

        @Override
        public Client connect(RedisAddress redis) {
            Lock lock = new ReentrantLock();
            return name -> lock;
        }
    }
}
