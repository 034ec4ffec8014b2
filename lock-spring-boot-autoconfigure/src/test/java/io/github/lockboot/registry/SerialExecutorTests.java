package io.github.lockboot.registry;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class SerialExecutorTests {

    private final ConcurrentLinkedQueue<Runnable> threads = new ConcurrentLinkedQueue<>();
    private final List<Integer> done = new ArrayList<>();

    @Test
    void tasksRunInOrderOnOneThreadAtATime() {
        SerialExecutor serial = new SerialExecutor(threads::add);
        serial.execute(() -> done.add(1));
        serial.execute(() -> done.add(2));
        assertThat(serial.waiting()).isEqualTo(2);
        assertThat(threads).hasSize(1);
        threads.remove().run();
        assertThat(done).containsExactly(1, 2);
        assertThat(serial.waiting()).isZero();
    }

    @Test
    void whatATaskThrowsDoesNotAffectTheOthers() {
        SerialExecutor serial = new SerialExecutor(threads::add);
        serial.execute(() -> {
            throw new StackOverflowError();
        });
        serial.execute(() -> done.add(2));
        threads.remove().run();
        serial.execute(() -> done.add(3));
        threads.remove().run();
        assertThat(done).containsExactly(2, 3);
    }

    @Test
    void aThreadThatIsNotAvailableIsRequestedAgain() {
        AtomicInteger lacking = new AtomicInteger(1);
        Executor scarce = task -> {
            if (lacking.getAndDecrement() > 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            threads.add(task);
        };
        SerialExecutor serial = new SerialExecutor(scarce);
        assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> serial.execute(() -> done.add(1)));
        serial.execute(() -> done.add(2));
        threads.remove().run();
        assertThat(done).containsExactly(1, 2);
    }
}
