package org.example.docs;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.StoredLock;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/** How docs/annotation.md says that callers wait. */
class WaitingTests extends OnRedis {

    @Test
    void whoWaitsSaysForHowLong() throws Exception {
        NamedLock lock = registry.get("seat:12");
        try (Lease other = anotherInstance().acquire("seat:12", ONCE)) {
            // tag::timed
            boolean once = lock.tryLock(); // tries once, does not wait
            boolean soon = lock.tryLock(200, TimeUnit.MILLISECONDS); // queues for at most 200 ms
            // end::timed
            assertThat(once || soon).isFalse();
            // tag::refused
            try {
                template.execute(
                        "seat:12", LockOptions.defaults().withWaitTime(Duration.ofMillis(200)), () -> book(12));
            } catch (LockNotAcquiredException held) {
                report(held.getLockName(), held.getWaited());
            }
            // end::refused
            assertThat(reported)
                    .singleElement()
                    .asString()
                    .matches("seat:12 after [2-9]00 ms"); // later on a busy machine
            assertThat(other.isValid()).isTrue();
        }
        assertThat(lock.tryLock()).isTrue();
        lock.unlock();
    }

    @Test
    void instancesAreServedInTheOrderTheyCame() throws Exception {
        List<Integer> served = Collections.synchronizedList(new ArrayList<>());
        Lease first = registry.acquire("ticket", ONCE);
        List<CompletableFuture<Void>> waiting = new ArrayList<>();
        for (int i = 1; i <= 3; i++) {
            int number = i;
            waiting.add(anotherInstance().acquireAsync("ticket").thenAccept(lease -> {
                served.add(number);
                lease.close();
            }));
            awaitQueued(number);
        }
        first.close();
        CompletableFuture.allOf(waiting.toArray(CompletableFuture<?>[]::new)).get(60, TimeUnit.SECONDS);
        assertThat(served).containsExactly(1, 2, 3);
    }

    /** That many instances are in the queue that lies in Redis. */
    private static void awaitQueued(int instances) {
        Await.until(instances + " in the queue", () -> queued() >= instances);
    }

    private static int queued() {
        return StoredLock.of(redis("GET", "lock:ticket")).queue().size();
    }

    private final List<String> reported = new ArrayList<>();

    private String book(int seat) {
        return "booked " + seat;
    }

    private void report(String name, Duration waited) {
        reported.add(name + " after " + waited.toMillis() / 100 * 100 + " ms");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
