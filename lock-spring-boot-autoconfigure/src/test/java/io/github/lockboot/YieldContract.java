package io.github.lockboot;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A long holder lets waiters of both instances have the lock at its checkpoints. */
abstract class YieldContract extends TwoInstances {

    private final LockOptions kind;

    YieldContract(LockRegistryContract contract, LockOptions kind) {
        super(contract);
        this.kind = kind.withWaitTime(LONG);
    }

    /** A method that runs under the lock until it has yielded so often. {@return its tokens} */
    private CompletableFuture<List<Long>> yielding(int times) {
        AtomicInteger left = new AtomicInteger(times);
        return actor().start(() -> {
            HeldLocks held =
                    HeldLocks.acquire(List.of(HeldLocks.wanted(registry().get(name, kind), null, null)));
            return held.runAndRelease(() -> held.<List<Long>, RuntimeException>call(() -> false, () -> {
                LockContext context = LockContext.current();
                long first = context.fencingToken();
                while (left.get() > 0) {
                    if (context.yieldIfOthersWait()) {
                        left.decrementAndGet();
                    }
                    Actor.pass(Duration.ofMillis(1));
                }
                return List.of(first, context.fencingToken());
            }));
        });
    }

    @Test
    void aWaiterOfEitherInstanceIsServedBeforeTheHolderGoesOn() throws Exception {
        for (LockRegistry each : both()) {
            CompletableFuture<List<Long>> method = yielding(1);
            Actor.await("it is held", () -> otherRegistry().get(name).isLocked());
            Caller next = comer(each);
            next.awaitGrant();
            long token = next.token();
            assertThat(method).isNotDone();
            next.unlock();
            List<Long> tokens = Actor.get(method);
            assertThat(token).isGreaterThan(tokens.get(0));
            assertThat(token).isLessThanOrEqualTo(tokens.get(1)); // readers have that of the last writer
            assertFree();
        }
    }

    @Test
    void aLeaseHearsOfAWaiterInEitherInstance() throws Exception {
        for (LockRegistry each : both()) {
            AtomicInteger told = new AtomicInteger();
            Lease lease = registry().acquire(name, kind);
            lease.onOthersWait(told::incrementAndGet);
            Caller next = comer(each);
            Actor.await("it is told", () -> told.get() == 1);
            lease.close();
            next.awaitGrant();
            next.unlock();
            assertThat(told).hasValue(1);
            assertFree();
        }
    }

    private Caller comer(LockRegistry registry) {
        NamedLock lock = registry.get(name);
        Actor actor = actor();
        return new Caller(actor, lock, actor.start(() -> lock.tryLock(LONG.toMillis(), TimeUnit.MILLISECONDS)));
    }
}
