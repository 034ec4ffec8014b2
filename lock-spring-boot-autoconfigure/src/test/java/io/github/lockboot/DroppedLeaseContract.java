package io.github.lockboot;

import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A lease that nobody closes, and that nobody can reach any more, ends with its ttl. */
abstract class DroppedLeaseContract extends TwoInstances {

    /** Long enough for a machine that stands still for a while: no lease is to run out for another reason. */
    private static final Duration TTL = Duration.ofSeconds(5);

    private static final AtomicLong COLLECTED = new AtomicLong(System.nanoTime() - TTL.toNanos());

    final LockOptions kind;

    /** Why holds of the lock were lost. */
    final List<String> losses = new CopyOnWriteArrayList<>();

    DroppedLeaseContract(LockRegistryContract contract, LockOptions kind) {
        super(contract);
        this.kind = kind.withTtl(TTL).withRenewal().withWaitTime(Duration.ofSeconds(20));
    }

    final void listen() {
        for (LockRegistry each : both()) {
            each.addListener(new LockListener() {
                @Override
                public void lost(LockUse use, Duration held, String reason) {
                    if (use.name().equals(name)) {
                        losses.add(reason);
                    }
                }
            });
        }
    }

    /** Not often, because all tests of the JVM stand still meanwhile. */
    static void collectGarbage() {
        long now = System.nanoTime();
        long last = COLLECTED.get();
        if (now - last > TTL.dividedBy(2).toNanos() && COLLECTED.compareAndSet(last, now)) {
            System.gc();
        }
    }

    final void awaitLoss(String acquiredAt) {
        Actor.await("it is lost", () -> {
            collectGarbage();
            return !losses.isEmpty();
        });
        assertThat(losses)
                .singleElement()
                .asString()
                .startsWith("its lease was not closed and is no longer referenced: close the lease that is acquired at "
                        + "io.github.lockboot.")
                .contains("." + acquiredAt + "(");
        Actor.await("it is free", () -> !otherRegistry().get(name).isLocked());
    }

    private void acquireAndForget() throws InterruptedException {
        assertThat(registry().acquire(name, kind).isValid()).isTrue();
    }

    @Test
    void itsLossNamesTheCodeThatAcquiredIt() throws Exception {
        listen();
        acquireAndForget();
        awaitLoss("acquireAndForget");
        assertFree();
    }

    private CompletableFuture<Void> requestAndForget() {
        CompletableFuture<Void> granted = new CompletableFuture<>();
        registry().acquireAsync(name, kind).thenRun(() -> granted.complete(null));
        return granted;
    }

    @Test
    void soDoesOneWhoseFutureNobodyTook() throws Exception {
        listen();
        CompletableFuture<Void> granted = requestAndForget();
        Actor.get(granted);
        awaitLoss("requestAndForget");
    }

    private void acquireWithACallbackThatHasIt(AtomicInteger told) throws InterruptedException {
        Lease lease = registry().acquire(name, kind);
        lease.onLost(() -> told.addAndGet(lease.name().length()));
    }

    @Test
    void aCallbackDoesNotKeepItsLease() throws Exception {
        listen();
        AtomicInteger told = new AtomicInteger();
        acquireWithACallbackThatHasIt(told);
        awaitLoss("acquireWithACallbackThatHasIt");
        assertThat(told).hasValue(0);
    }

    @Test
    void aLeaseThatCanBeReachedIsKept() throws Exception {
        listen();
        AtomicInteger told = new AtomicInteger();
        Lease lease = registry().acquire(name, kind);
        lease.onLost(told::incrementAndGet);
        CompletableFuture<Lease> another = registry().acquireAsync(name + " 2", kind);
        assertThat(Actor.get(another).isValid()).isTrue();
        WeakReference<Object> unreachable = new WeakReference<>(new Object());
        Actor.await("garbage is collected", () -> {
            collectGarbage();
            return unreachable.get() == null;
        });
        Actor.awaitRenewals(3, lease::remainingLease);
        assertThat(losses).isEmpty();
        lease.close();
        another.join().close();
        Reference.reachabilityFence(lease);
        assertThat(told).hasValue(0);
        assertFree();
    }
}
