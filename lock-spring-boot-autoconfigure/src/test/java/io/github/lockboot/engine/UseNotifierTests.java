package io.github.lockboot.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUse;
import io.github.lockboot.RecordingLockListener;
import io.github.lockboot.RecordingLockRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class UseNotifierTests {

    private static final EngineContext.Settings SETTINGS =
            new EngineContext.Settings(Duration.ofSeconds(2), Duration.ofMillis(20), Duration.ofSeconds(2), 64);
    private static final LockOptions OPTIONS = LockOptions.defaults()
            .withTtl(Duration.ofSeconds(2))
            .withWaitTime(Duration.ZERO)
            .withRenewal();

    private final CountDownLatch hanging = new CountDownLatch(1);
    private final AtomicInteger heard = new AtomicInteger();
    private final AtomicInteger lost = new AtomicInteger();
    private final ManualTimer timer = new ManualTimer();
    private final ExecutorService workers = Executors.newCachedThreadPool();
    private final ListenerRegistry listeners =
            new ListenerRegistry(new EngineContext(SETTINGS, timer, workers, () -> 0), new RecordingLockRegistry());

    private final LockListener hangs = new LockListener() {

        @Override
        public void renewed(LockUse use) {
            try {
                hanging.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            heard.incrementAndGet();
        }

        @Override
        public void lost(LockUse use, Duration held, String reason) {
            lost.incrementAndGet();
        }
    };

    private static LockRequest request(@Nullable String group) {
        return LockRequest.of("name", group == null ? OPTIONS : OPTIONS.withGroup(group));
    }

    private static Hold granted(long token) {
        ScriptedEngine scripted = new ScriptedEngine(64);
        CompletableFuture<Lease> lease = scripted.acquire(Duration.ofMinutes(1));
        ScriptedEngine.Sent asked = scripted.next("acquire");
        asked.answer(new Reply.Queued(1, token - 1, 10_000));
        scripted.push(asked.id(), token, Duration.ofSeconds(6), 0);
        return Hold.of(lease.join());
    }

    @AfterEach
    void stop() {
        hanging.countDown();
        workers.shutdown();
    }

    @Test
    void withoutListenersThereIsNothingToNotify() {
        LockEngine engine = new ScriptedEngine(64).engine;
        assertThat(engine.hasListeners()).isFalse();
    }

    @Test
    void aUseIsReportedWithItsTimesAndOnlyOneOutcomeAndOneEnd() {
        RecordingLockListener listener = new RecordingLockListener();
        listeners.add(listener);
        UseNotifier use = listeners.requested(request("group"), null);
        timer.stopFor(Duration.ofNanos(5));
        Hold hold = granted(7);
        use.acquired(hold);
        use.ended(LockListener::unavailable);
        timer.stopFor(Duration.ofNanos(6));
        use.released(true);
        use.lost("late");
        assertThat(listener.told).containsExactly("requested name", "acquired name GRANTED", "released name");
        assertThat(listener.times).containsExactly(Duration.ZERO, Duration.ofNanos(5), Duration.ofNanos(6));
        assertThat(listener.uses).allSatisfy(seen -> {
            assertThat(seen.holderId()).isEqualTo(hold.acquisitionId());
            assertThat(seen.fencingToken()).isEqualTo(7);
            assertThat(seen.remainingLease()).isEqualTo(hold.remainingLease()).isPositive();
            assertThat(seen.group()).isEqualTo("group");
        });
    }

    @Test
    void aListenerThatHangsDelaysNoOther() {
        listeners.add(hangs);
        listeners.add(new LockListener() {

            @Override
            public void renewed(LockUse use) {
                heard.incrementAndGet();
            }
        });
        UseNotifier use = listeners.requested(request(null), null);
        for (int i = 0; i < 1_000; i++) {
            use.renewed();
        }
        Actor.await("the other hears all", () -> heard.get() == 1_000);
    }

    /** What a listener keeps of a use, it keeps until the end of that. */
    @Test
    void aListenerThatIsBehindWithRenewalsIsToldOfEnds() {
        listeners.add(hangs);
        UseNotifier use = listeners.requested(request(null), null);
        for (int i = 0; i < 2 * ListenerRegistry.CAPACITY; i++) {
            use.renewed();
        }
        use.lost("it ran out");
        hanging.countDown();
        Actor.await("it has heard of the end", () -> lost.get() == 1);
    }

    @Test
    void notificationsDoNotPileUpWithoutLimit() {
        listeners.add(hangs);
        UseNotifier use = listeners.requested(request(null), null);
        for (int i = 0; i < 3 * ListenerRegistry.CAPACITY; i++) {
            use.renewed();
        }
        hanging.countDown();
        Actor.await("it has heard what was kept", () -> heard.get() >= ListenerRegistry.CAPACITY);
        int kept = heard.get();
        use.renewed();
        Actor.await("it hears again", () -> heard.get() == kept + 1);
        assertThat(kept).isBetween(ListenerRegistry.CAPACITY, ListenerRegistry.CAPACITY + 1);
    }
}
