package io.github.lockboot.registry;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockboot.Actor;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockListener.Origin;
import io.github.lockboot.LockUse;
import io.github.lockboot.RecordingLockListener;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ListenersTests {

    private final CountDownLatch hanging = new CountDownLatch(1);
    private final AtomicInteger heard = new AtomicInteger();
    private final AtomicLong time = new AtomicLong();
    private final ExecutorService workers = Executors.newCachedThreadPool();
    private final Listeners listeners = new Listeners(time::get, workers);

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
    };

    @AfterEach
    void stop() {
        hanging.countDown();
        workers.shutdown();
    }

    @Test
    void withoutListenersThereIsNothingToNotify() {
        assertThat(listeners.isEmpty()).isTrue();
        assertThat(listeners.requested("name", null, null)).isSameAs(UseNotifier.NONE);
    }

    @Test
    void aUseIsReportedWithItsTimesAndOnlyOneOutcomeAndOneEnd() {
        RecordingLockListener listener = new RecordingLockListener();
        listeners.add(listener);
        UseNotifier use = listeners.requested("name", "group", null);
        time.addAndGet(5);
        use.acquired("owner", 7, Origin.GRANTED, () -> Duration.ofSeconds(1));
        use.unavailable();
        time.addAndGet(6);
        use.released(true);
        use.lost("late");
        assertThat(listener.told).containsExactly("requested name", "acquired name GRANTED", "released name");
        assertThat(listener.times).containsExactly(Duration.ZERO, Duration.ofNanos(5), Duration.ofNanos(6));
        assertThat(listener.uses).allSatisfy(seen -> {
            assertThat(seen.ownerId()).isEqualTo("owner");
            assertThat(seen.fencingToken()).isEqualTo(7);
            assertThat(seen.remainingLease()).isEqualTo(Duration.ofSeconds(1));
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
        UseNotifier use = listeners.requested("name", null, null);
        for (int i = 0; i < 1_000; i++) {
            use.renewed();
        }
        Actor.await("the other hears all", () -> heard.get() == 1_000);
    }

    @Test
    void notificationsDoNotPileUpWithoutLimit() {
        listeners.add(hangs);
        UseNotifier use = listeners.requested("name", null, null);
        for (int i = 0; i < 3 * ListenerQueue.CAPACITY; i++) {
            use.renewed();
        }
        hanging.countDown();
        Actor.await("it has heard what was kept", () -> heard.get() >= ListenerQueue.CAPACITY);
        int kept = heard.get();
        use.renewed();
        Actor.await("it hears again", () -> heard.get() == kept + 1);
        assertThat(kept).isBetween(ListenerQueue.CAPACITY, ListenerQueue.CAPACITY + 1);
    }
}
