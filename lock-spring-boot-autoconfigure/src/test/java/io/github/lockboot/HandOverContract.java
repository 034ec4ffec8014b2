package io.github.lockboot;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** A lease that begins in one instance and ends in another. */
abstract class HandOverContract extends TwoInstances {

    private final LockOptions kind;

    /** @param kind as which the lock is held, alone */
    HandOverContract(LockRegistryContract contract, LockOptions kind) {
        super(contract);
        this.kind = kind;
    }

    private Lease lease(LockOptions options) throws InterruptedException {
        return registry().acquire(name, options.withWaitTime(Duration.ofSeconds(20)));
    }

    private Lease takenOver(LockRegistry registry, String handedOver) throws InterruptedException {
        return registry.takeOver(handedOver, kind);
    }

    private void assertGone(LockRegistry registry, String handedOver, Lease lease) {
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(() -> takenOver(registry, handedOver))
                .withMessageContaining(name)
                .withMessageContaining(Long.toString(lease.fencingToken()));
    }

    @Test
    void whatOneInstanceGivesUpAnotherHasWithTheSameToken() throws Exception {
        Lease lease = lease(kind);
        AtomicInteger told = new AtomicInteger();
        lease.onLost(told::incrementAndGet);
        String handedOver = lease.handOver();
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.remainingLease()).isZero();
        assertRefused(registry().get(name, kind));
        Lease taken = takenOver(otherRegistry(), handedOver);
        assertThat(taken.isValid()).isTrue();
        assertThat(taken.name()).isEqualTo(name);
        assertThat(taken.fencingToken()).isEqualTo(lease.fencingToken());
        lease.close(); // nothing: it has no part in the lock any more
        assertThat(told).hasValue(0);
        assertRefused(registry().get(name, kind));
        taken.close();
        try (Lease next = lease(kind)) {
            assertThat(next.fencingToken()).isGreaterThan(taken.fencingToken());
        }
        assertFree();
    }

    @Test
    void aCallerThatDoesNotWaitTakesItOver() throws Exception {
        Lease lease = lease(kind);
        Lease taken = otherRegistry().takeOver(lease.handOver(), kind.withWaitTime(Duration.ZERO));
        assertThat(taken.fencingToken()).isEqualTo(lease.fencingToken());
        taken.close();
        assertFree();
    }

    @Test
    void itMayComeBackAndBeHandedOverAgain() throws Exception {
        Lease lease = lease(kind);
        long token = lease.fencingToken();
        for (int i = 0; i < 4; i++) {
            lease = takenOver(both().get(i % 2), lease.handOver());
            assertThat(lease.fencingToken()).isEqualTo(token);
        }
        lease.close();
        assertFree();
    }

    @Test
    void ofSeveralWhoTakeItOverOneHasIt() throws Exception {
        Lease lease = lease(kind);
        String handedOver = lease.handOver();
        List<CompletableFuture<Lease>> takers = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            LockRegistry registry = both().get(i % 2);
            takers.add(actor().start(() -> takenOver(registry, handedOver)));
        }
        List<Lease> taken = new ArrayList<>();
        for (CompletableFuture<Lease> taker : takers) {
            try {
                taken.add(Actor.get(taker));
            } catch (LockLostException gone) {
                assertThat(gone).hasMessageContaining(name);
            }
        }
        assertThat(taken).hasSize(1);
        assertThat(taken.get(0).isValid()).isTrue();
        taken.get(0).close();
        assertGone(registry(), handedOver, lease);
        assertFree();
    }

    @Test
    void whatNobodyTakesOverIsFreeAfterOneTtl() throws Exception {
        Lease lease = lease(kind.withTtl(SHORT_TTL));
        String handedOver = lease.handOver();
        try (Lease next = otherRegistry().acquire(name, kind)) {
            assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
        }
        assertGone(otherRegistry(), handedOver, lease);
        assertFree();
    }

    @Test
    void anExtendedLeaseThatNobodyTakesOverIsFreeAfterOneTtl() throws Exception {
        Lease lease = lease(kind.withTtl(Duration.ofSeconds(3)).withoutRenewal());
        assertThat(lease.extend(Duration.ofMinutes(10))).isTrue();
        lease.handOver();
        lease(kind).close();
        assertFree();
    }

    @Test
    void whoTakesItOverHasItForItsOwnTtl() throws Exception {
        Lease lease = lease(kind.withTtl(Duration.ofMinutes(10)));
        Lease taken = otherRegistry().takeOver(lease.handOver(), fixedLease(kind));
        assertThat(taken.remainingLease()).isLessThanOrEqualTo(SHORT_TTL);
        lease(kind).close();
        assertThat(taken.isValid()).isFalse();
        assertFree();
    }

    @Test
    void itIsRenewedWhereItIsHeld() throws Exception {
        Lease lease = lease(renewedLease(kind));
        try (Lease taken = otherRegistry().takeOver(lease.handOver(), renewedLease(kind))) {
            for (int i = 0; i < 2; i++) {
                pass(LONGER_THAN_RENEWED_TTL.dividedBy(2));
                assertThat(taken.isValid()).isTrue();
            }
            assertRefused(registry().get(name, kind));
        }
        assertFree();
    }

    @Test
    void whoWaitsGetsTheLockWhenTheTakerReleasesIt() throws Exception {
        Lease lease = lease(kind);
        List<Caller> waiters = List.of(
                waiter(registry(), registry().get(name, kind)),
                waiter(otherRegistry(), otherRegistry().get(name, kind)));
        Lease taken = takenOver(otherRegistry(), lease.handOver());
        both().forEach(this::awaitArrival);
        waiters.forEach(Caller::assertWaits);
        taken.close();
        CompletableFuture.anyOf(waiters.stream().map(Caller::granted).toArray(CompletableFuture<?>[]::new))
                .join();
        Caller first = waiters.get(waiters.get(0).granted().isDone() ? 0 : 1);
        Caller second = waiters.get(first == waiters.get(0) ? 1 : 0);
        first.unlock();
        second.awaitGrant();
        second.unlock();
        assertFree();
    }

    @Test
    void whatIsLostIsNotHandedOver() throws Exception {
        Lease lease = lease(fixedLease(kind));
        pass(LONGER_THAN_SHORT_TTL);
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(lease::handOver)
                .withMessageContaining(name);
        assertFree();
    }

    @Test
    void whatIsClosedIsNotHandedOver() throws Exception {
        Lease lease = lease(kind);
        lease.close();
        assertThatIllegalStateException().isThrownBy(lease::handOver).withMessageContaining(name);
        Lease given = lease(kind);
        String handedOver = given.handOver();
        assertThatIllegalStateException().isThrownBy(given::handOver).withMessageContaining(name);
        takenOver(registry(), handedOver).close();
        assertFree();
    }

    @Test
    void anotherTextOrOtherOptionsTakeNothing() throws Exception {
        Lease lease = lease(kind);
        String handedOver = lease.handOver();
        LockOptions another = kind.permits() == null ? kind.withPermits(2) : EXCLUSIVE;
        assertThatIllegalArgumentException()
                .isThrownBy(() -> otherRegistry().takeOver(handedOver, another))
                .withMessageContaining(name)
                .withMessageContaining("pass the options it was acquired with");
        for (String text : List.of(
                "",
                "1",
                name,
                handedOver.replaceFirst("1", "2"),
                handedOver.replace("transfer-", ""),
                handedOver + "\uD800")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> takenOver(otherRegistry(), text))
                    .withMessageContaining("Lease.handOver()");
        }
        takenOver(otherRegistry(), handedOver).close();
        assertFree();
    }

    @Test
    void aTextWhoseKindWasChangedTakesNothing() throws Exception {
        String handedOver = lease(kind).handOver();
        boolean alone = kind.permits() == null;
        LockOptions another = alone ? kind.withPermits(1) : EXCLUSIVE;
        String is = alone ? "EXCLUSIVE" : "LIMITED";
        String forged = alone ? "LIMITED" : "EXCLUSIVE";
        assertThatIllegalArgumentException()
                .isThrownBy(() -> otherRegistry().takeOver(handedOver.replaceFirst(is, forged), another));
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(() -> otherRegistry().takeOver(handedOver.replace(is, forged), another));
        takenOver(otherRegistry(), handedOver).close();
        assertFree();
    }

    @Test
    void anInterruptedCallHoldsNothing() throws Exception {
        String handedOver = lease(kind).handOver();
        Actor taker = actor();
        assertThatExceptionOfType(InterruptedException.class)
                .isThrownBy(() -> taker.run(() -> {
                    Thread.currentThread().interrupt();
                    takenOver(otherRegistry(), handedOver);
                }));
        takenOver(otherRegistry(), handedOver).close();
        assertFree();
    }
}
