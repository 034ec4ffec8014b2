package io.github.lockboot;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What a limit of waiting callers does, whatever the store. Two registries stand for two instances. */
public abstract class MaxWaitingContract {

    private static final LockOptions PATIENT = LockOptions.defaults().withWaitTime(Duration.ofMinutes(5));

    private final String name = "max-waiting " + UUID.randomUUID();
    private final CountDownLatch over = new CountDownLatch(1);
    private final ExecutorService threads = Executors.newCachedThreadPool();

    protected abstract LockRegistry registry();

    protected abstract LockRegistry otherRegistry();

    @AfterEach
    void end() {
        over.countDown();
        threads.shutdownNow();
    }

    private static LockOptions atMost(int maxWaiting) {
        return PATIENT.withMaxWaiting(maxWaiting);
    }

    /** {@return ends when the body that holds the lock has ended} */
    private CompletableFuture<Void> hold(LockRegistry registry) throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        CompletableFuture<Void> run = CompletableFuture.runAsync(
                () -> new LockTemplate(registry).executeWithoutResult(name, PATIENT, () -> {
                    held.countDown();
                    awaitOver();
                }),
                threads);
        held.await();
        return run;
    }

    private void awaitOver() {
        try {
            over.await();
        } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void ofTwoHundredThreadsOneHoldsTwentyWaitAndTheOthersAreFree() throws Exception {
        LockTemplate template = new LockTemplate(registry());
        AtomicInteger ran = new AtomicInteger();
        CountDownLatch refused = new CountDownLatch(179);
        List<CompletableFuture<Void>> callers = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            callers.add(CompletableFuture.runAsync(
                    () -> {
                        try {
                            template.executeWithoutResult(name, atMost(20), () -> {
                                ran.incrementAndGet();
                                awaitOver();
                            });
                        } catch (LockNotAcquiredException full) {
                            refused.countDown();
                        }
                    },
                    threads));
        }
        Actor.await("179 are refused", () -> refused.getCount() == 0);
        assertThat(ran).hasValue(1);
        assertThat(callers.stream().filter(CompletableFuture::isDone).count()).isLessThanOrEqualTo(179);
        over.countDown();
        for (CompletableFuture<Void> caller : callers) {
            Actor.get(caller);
        }
        assertThat(ran).hasValue(21);
    }

    /** Each trigger writes its change first. The run that comes last has seen them all. */
    @Test
    void aThousandTriggersDuringARunMakeOneFurtherRunPerInstanceWhichSeesTheLastChange() throws Exception {
        CompletableFuture<Void> first = hold(registry());
        AtomicInteger changes = new AtomicInteger();
        ConcurrentLinkedQueue<Integer> seen = new ConcurrentLinkedQueue<>();
        AtomicInteger skipped = new AtomicInteger();
        List<CompletableFuture<Void>> triggers = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            LockTemplate template = new LockTemplate(i % 2 == 0 ? registry() : otherRegistry());
            triggers.add(CompletableFuture.runAsync(
                    () -> {
                        changes.incrementAndGet();
                        boolean ran = template.tryExecute(name, atMost(1), () -> seen.add(changes.get()))
                                .isAcquired();
                        skipped.addAndGet(ran ? 0 : 1);
                    },
                    threads));
        }
        Actor.await("all but one of each instance return", () -> skipped.get() == 998);
        assertThat(seen).isEmpty();
        over.countDown();
        Actor.get(first);
        for (CompletableFuture<Void> trigger : triggers) {
            Actor.get(trigger);
        }
        assertThat(seen).containsExactly(1_000, 1_000);
    }

    static Stream<LockOptions> kinds() {
        return Stream.of(PATIENT, PATIENT.shared(), PATIENT.withPermits(1));
    }

    /** Behind another instance's writer, so that each of them has to wait. */
    @ParameterizedTest
    @MethodSource("kinds")
    void callersOfEachKindAndFormAreRefused(LockOptions kind) throws Exception {
        hold(otherRegistry());
        LockOptions options = kind.withMaxWaiting(1);
        CompletableFuture<Lease> waits = registry().acquireAsync(name, options);
        assertThatRefused(() -> Actor.get(registry().acquireAsync(name, options)));
        assertThatRefused(() -> registry().acquire(name, options));
        assertThat(registry().tryAcquire(name, options)).isEmpty();
        NamedLock lock = registry().get(name, options);
        assertThat(lock.tryLock(1, TimeUnit.MINUTES)).isFalse();
        assertThat(lock.tryLock(Duration.ofMinutes(1), Duration.ofSeconds(5))).isFalse();
        assertThatRefused(() -> {
            lock.lock();
            return null;
        });
        assertThatRefused(() -> {
            lock.lockInterruptibly();
            return null;
        });
        LockTemplate template = new LockTemplate(registry());
        assertThatRefused(() -> template.execute(name, options, () -> "ran"));
        assertThatRefused(
                () -> Actor.get(template.executeAsync(name, options, () -> CompletableFuture.completedFuture("ran"))));
        assertThat(waits).isNotDone();
        over.countDown();
        Actor.get(waits).close();
    }

    private static void assertThatRefused(Callable<?> caller) {
        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(caller::call)
                .withMessageContaining("too many callers of this instance wait for it already: 1, and maxWaiting is 1");
    }

    @Test
    void aThreadThatHoldsTheLockReenters() throws Exception {
        NamedLock lock = registry().get(name, atMost(1));
        lock.lock();
        CompletableFuture<Lease> waits = registry().acquireAsync(name, atMost(1));
        lock.lock();
        assertThat(lock.tryLock(1, TimeUnit.MINUTES)).isTrue();
        assertThat(lock.getHoldCount()).isEqualTo(3);
        for (int i = 0; i < 3; i++) {
            lock.unlock();
        }
        Actor.get(waits).close();
    }

    @Test
    void callersOfAnotherInstanceDoNotCount() throws Exception {
        hold(registry());
        CompletableFuture<Lease> here = registry().acquireAsync(name, atMost(1));
        CompletableFuture<Lease> there = otherRegistry().acquireAsync(name, atMost(1));
        assertThat(registry().tryAcquire(name, atMost(1))).isEmpty();
        assertThat(List.of(here, there)).noneMatch(CompletableFuture::isDone);
        over.countDown();
        Actor.get(CompletableFuture.allOf(
                here.thenCompose(lease -> lease.closeAfter(Duration.ZERO)),
                there.thenCompose(lease -> lease.closeAfter(Duration.ZERO))));
    }

    @Test
    void severalLocksAreRefusedTogether() throws Exception {
        hold(registry());
        Function<String, NamedLock> handles = ((LockRuntime) registry()).handles(atMost(1));
        CompletableFuture<Lease> waits = registry().acquireAsync(name, atMost(1));
        HeldLocks refused = HeldLocks.acquire(Stream.of(name + "+", name)
                .map(each -> HeldLocks.wanted(handles.apply(each), null, null))
                .toList());
        assertThat(refused.refusal()).hasMessageContaining("wait for it already: 1");
        assertThat(registry().get(name + "+").isLocked()).isFalse();
        over.countDown();
        Actor.get(waits).close();
    }
}
