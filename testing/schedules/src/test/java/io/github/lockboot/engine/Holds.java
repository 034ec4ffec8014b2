package io.github.lockboot.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.LockOptions;
import io.github.lockboot.engine.LeaseTime.Moment;
import io.github.lockboot.engine.LockRequest.Transfer;
import io.github.lockboot.schedules.StillTimer;

/** Holds without an engine: their releases are counted. */
final class Holds {

    static final class Counter implements Hold.Releaser {

        final AtomicInteger releases = new AtomicInteger();
        final AtomicInteger downgrades = new AtomicInteger();

        @Override
        public CompletableFuture<Hold.Release> release(Hold hold, Transfer to) {
            if (hold.markReleased()) {
                releases.incrementAndGet();
                return CompletableFuture.completedFuture(Hold.Release.PASSED_ON);
            }
            return CompletableFuture.completedFuture(
                    hold.state() == Hold.State.LOST ? Hold.Release.LOST : Hold.Release.PASSED_ON);
        }

        @Override
        public void downgrade(Hold hold) {
            downgrades.incrementAndGet();
        }

        @Override
        public void keepUntil(Hold hold, long nanoTime) {}

        @Override
        public boolean extend(Hold hold, long millis) {
            return false;
        }

        @Override
        public boolean othersWait(Hold hold) {
            return false;
        }

        @Override
        public void settleNow() {}
    }

    private static final LockRequest REQUEST = LockRequest.of(
            "name",
            LockOptions.defaults()
                    .withTtl(Duration.ofSeconds(30))
                    .withWaitTime(Duration.ofSeconds(10))
                    .withRenewal());

    private static final EngineContext CONTEXT = new EngineContext(
            new EngineContext.Settings(Duration.ofSeconds(2), Duration.ofMillis(20), Duration.ofSeconds(2), 64),
            new StillTimer(),
            ForkJoinPool.commonPool(),
            () -> 0);

    private static final Moment NOW = new Moment(0, 0);

    private Holds() {}

    /** One that its waiter has not claimed yet. */
    static Hold granted(Hold.Releaser releaser) {
        FutureWaiter waiter = new FutureWaiter(CONTEXT, REQUEST, null, null);
        return new Hold(CONTEXT, releaser, id(), waiter, NOW);
    }

    static Hold held(Hold.Releaser releaser) {
        Hold hold = granted(releaser);
        hold.claim();
        return hold;
    }

    private static Id id() {
        Id id = new Id("id", REQUEST.terms(), null, CONTEXT, new LockStore.Client() {});
        id.granted(100, 100, 30_000, NOW, NOW);
        return id;
    }
}
