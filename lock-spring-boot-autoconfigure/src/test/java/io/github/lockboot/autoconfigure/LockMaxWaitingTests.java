package io.github.lockboot.autoconfigure;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.Actor;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.IfNotAcquired;
import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The attribute maxWaiting, and the properties of that name. */
class LockMaxWaitingTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class, LockAutoConfiguration.class))
            .withPropertyValues("lock.type=memory", "lock.wait-time=5m")
            .withBean(State.class)
            .withBean(Index.class);

    /** Another holds the lock, and one waits for it. */
    private static void whileOneWaits(LockRegistry locks, String name, Actor.Step step) throws Exception {
        Lease held = locks.acquire(name);
        CompletableFuture<Lease> waits = locks.acquireAsync(name);
        step.run();
        assertThat(waits).isNotDone();
        held.close();
        Actor.get(waits).close();
    }

    @Test
    void theNextCallerGetsWhatTheAnnotationSays() {
        runner.run(context -> {
            Index index = context.getBean(Index.class);
            LockRegistry locks = context.getBean(LockRegistry.class);
            whileOneWaits(
                    locks,
                    "thrown",
                    () -> assertThatExceptionOfType(LockNotAcquiredException.class)
                            .isThrownBy(index::thrown)
                            .withMessageStartingWith("could not acquire lock 'thrown' within ")
                            .withMessageContaining("too many callers of this instance wait for it already: 1,"
                                    + " and maxWaiting of group 'thrown' is 1; come back later, or raise it"));
            whileOneWaits(locks, "skipped", () -> assertThat(index.skipped()).isEmpty());
            whileOneWaits(
                    locks,
                    "skipped",
                    () -> assertThat(index.skippedLater().blockOptional()).isEmpty());
            whileOneWaits(
                    locks,
                    "skipped",
                    () -> assertThat(Actor.get(index.skippedStage())).isNull());
            whileOneWaits(locks, "other", () -> assertThat(index.fallback()).isEqualTo("later"));
            assertThat(context.getBean(State.class).ran).hasValue(0);
            assertThat(index.skipped()).contains("ran");
        });
    }

    /** Whoever returns knows that one waits that has not started: it sees the change. */
    @Test
    void oneRunsOneWaitsAndAllOthersReturn() {
        runner.run(context -> {
            Index index = context.getBean(Index.class);
            State state = context.getBean(State.class);
            CompletableFuture<Void> first = CompletableFuture.runAsync(index::rebuild);
            state.running.await();
            AtomicInteger returned = new AtomicInteger();
            CompletableFuture<?>[] triggers = new CompletableFuture<?>[1_000];
            for (int i = 0; i < triggers.length; i++) {
                triggers[i] = CompletableFuture.runAsync(
                        () -> {
                            state.changes.incrementAndGet();
                            index.rebuild();
                            returned.incrementAndGet();
                        },
                        task -> new Thread(task).start());
            }
            Actor.await("999 return", () -> returned.get() == 999);
            assertThat(state.ran).hasValue(1);
            state.goOn.countDown();
            Actor.get(first);
            Actor.get(CompletableFuture.allOf(triggers));
            assertThat(state.ran).hasValue(2);
            assertThat(state.seen).hasValue(1_000);
        });
    }

    @Test
    void theGroupTakesPrecedenceOverTheAnnotationAndTheAnnotationOverAll() {
        runner.withPropertyValues("lock.max-waiting=7", "lock.locks.other.max-waiting=3", "lock.locks.thrown.ttl=1m")
                .run(context -> {
                    LockRegistry locks = context.getBean(LockRegistry.class);
                    assertThat(locks.get("a").options().maxWaiting()).isEqualTo(7);
                    LockOptions two = LockOptions.defaults().withMaxWaiting(2);
                    assertThat(locks.get("a", two).options().maxWaiting()).isEqualTo(2);
                    assertThat(locks.get("a", two.withGroup("other")).options().maxWaiting())
                            .isEqualTo(3);
                    assertThat(locks.get("a", two.withGroup("thrown")).options().maxWaiting())
                            .isEqualTo(2);
                });
        runner.run(context -> assertThat(
                        context.getBean(LockRegistry.class).get("a").options().maxWaiting())
                .isNull());
    }

    @Test
    void thePropertyForAllLimitsALockWithoutAGroup() {
        runner.withPropertyValues("lock.max-waiting=1").run(context -> {
            LockRegistry locks = context.getBean(LockRegistry.class);
            whileOneWaits(
                    locks,
                    "a",
                    () -> assertThatExceptionOfType(LockNotAcquiredException.class)
                            .isThrownBy(() -> locks.acquire("a"))
                            .withMessageContaining(", and maxWaiting is 1;"));
        });
    }

    static class State {

        final AtomicInteger ran = new AtomicInteger();
        final AtomicInteger changes = new AtomicInteger();
        final AtomicInteger seen = new AtomicInteger();
        final CountDownLatch running = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
    }

    static class Index {

        private final State state;

        Index(State state) {
            this.state = state;
        }

        @DistributedLock(name = "thrown", maxWaiting = "${limit:1}")
        public void thrown() {
            state.ran.incrementAndGet();
        }

        @DistributedLock(name = "skipped", maxWaiting = "1", ifNotAcquired = IfNotAcquired.SKIP)
        public Optional<String> skipped() {
            return Optional.of("ran");
        }

        @DistributedLock(name = "skipped", maxWaiting = "1", ifNotAcquired = IfNotAcquired.SKIP)
        public Mono<String> skippedLater() {
            return Mono.just("ran");
        }

        @DistributedLock(name = "skipped", maxWaiting = "1", ifNotAcquired = IfNotAcquired.SKIP)
        public CompletableFuture<String> skippedStage() {
            return CompletableFuture.completedFuture("ran");
        }

        @DistributedLock(name = "other", maxWaiting = "1", fallback = "later")
        public String fallback() {
            return "ran";
        }

        String later() {
            return "later";
        }

        @DistributedLock(name = "rebuild", maxWaiting = "1", ifNotAcquired = IfNotAcquired.SKIP)
        public void rebuild() {
            state.ran.incrementAndGet();
            state.seen.set(state.changes.get());
            state.running.countDown();
            try {
                state.goOn.await();
            } catch (InterruptedException end) {
                throw new IllegalStateException(end);
            }
        }
    }
}
