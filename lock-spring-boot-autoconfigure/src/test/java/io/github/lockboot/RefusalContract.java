package io.github.lockboot;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** What the exception of a refusal says of the holder, whatever the store. */
abstract class RefusalContract {

    private static final Duration TTL = Duration.ofSeconds(20);
    private static final LockOptions HELD = LockOptions.defaults().withTtl(TTL);
    private static final LockOptions ONCE = LockOptions.defaults().withWaitTime(Duration.ZERO);
    private static final LockOptions SOON = LockOptions.defaults().withWaitTime(Duration.ofMillis(300));

    private final LockRegistryContract base;

    RefusalContract(LockRegistryContract base) {
        this.base = base;
    }

    private String holder() {
        return ((LockRuntime) base.registry()).holders(base.name).get(0);
    }

    /** {@return the refusal, in each way in which a caller asks} */
    private List<LockNotAcquiredException> refusals(LockRegistry registry, LockOptions options) {
        LockTemplate template = new LockTemplate(registry);
        boolean exclusive = options.mode() == null && options.permits() == null;
        return Stream.<Actor.Step>of(
                        () -> registry.acquire(base.name, options),
                        () -> Actor.get(registry.acquireAsync(base.name, options)),
                        () -> template.execute(base.name, options, () -> "ran"),
                        () -> Actor.get(template.executeAsync(
                                base.name, options, () -> CompletableFuture.completedFuture("ran"))),
                        () -> template.singleFlight(base.name, options, () -> null, () -> "loaded"))
                .limit(exclusive ? 5 : 4) // a flight has one leader
                .map(step -> catchThrowableOfType(LockNotAcquiredException.class, step::run))
                .toList();
    }

    private void assertNamesTheHolder(List<LockNotAcquiredException> refusals, Duration atMost) {
        String holder = holder();
        assertThat(refusals).hasSize(5).allSatisfy(refusal -> {
            assertThat(refusal.getHolderId()).isEqualTo(holder);
            assertThat(refusal.getRetryAfter()).isBetween(Duration.ZERO, atMost);
            assertThat(refusal).hasMessageContaining("another caller held it").hasMessageNotContaining(holder);
            assertThat(refusal.getUserMessage()).isNull();
        });
    }

    @Test
    void aCallerThatTriesOnceIsToldWhoHoldsTheLockInAnotherInstance() throws Exception {
        try (Lease held = base.otherRegistry().acquire(base.name, HELD)) {
            assertNamesTheHolder(refusals(base.registry(), ONCE), TTL);
            assertThat(held.isValid()).isTrue();
        }
    }

    @Test
    void aCallerWhoseWaitHasEndedIsTold() throws Exception {
        try (Lease held = base.otherRegistry().acquire(base.name, HELD)) {
            assertNamesTheHolder(refusals(base.registry(), SOON), TTL);
            assertThat(held.isValid()).isTrue();
        }
    }

    @Test
    void aCallerOfTheSameInstanceIsTold() throws Exception {
        try (Lease held = base.registry().acquire(base.name, HELD)) {
            assertNamesTheHolder(refusals(base.registry(), ONCE), TTL);
            assertNamesTheHolder(refusals(base.registry(), SOON), TTL);
            assertThat(held.isValid()).isTrue();
        }
    }

    @Test
    void aCallerBehindTooManyIsTold() throws Exception {
        Lease held = base.registry().acquire(base.name, HELD);
        LockOptions one = LockOptions.defaults().withMaxWaiting(1);
        CompletableFuture<Lease> waits = base.registry().acquireAsync(base.name, one);
        LockNotAcquiredException refusal = catchThrowableOfType(
                LockNotAcquiredException.class, () -> base.registry().acquire(base.name, one));
        assertThat(refusal).hasMessageContaining("too many callers");
        assertThat(refusal.getHolderId()).isEqualTo(holder());
        assertThat(refusal.getRetryAfter()).isBetween(Duration.ZERO, TTL);
        held.close();
        Actor.get(waits).close();
    }

    @Test
    void readersAndCallersForPermitsAreTold() throws Exception {
        try (Lease writer = base.otherRegistry().acquire(base.name, HELD)) {
            assertNamesTheHolder(refusals(base.registry(), ONCE.shared()), writer);
            assertNamesTheHolder(refusals(base.registry(), ONCE.withPermits(2)), writer);
        }
        try (Lease reader = base.otherRegistry().acquire(base.name, HELD.shared())) {
            assertNamesTheHolder(refusals(base.registry(), ONCE), reader);
        }
        try (Lease permit = base.otherRegistry().acquire(base.name, HELD.withPermits(1))) {
            assertNamesTheHolder(refusals(base.registry(), ONCE.withPermits(1)), permit);
        }
    }

    private void assertNamesTheHolder(List<LockNotAcquiredException> refusals, Lease held) {
        String holder = holder();
        assertThat(held.isValid()).isTrue();
        assertThat(refusals).allSatisfy(refusal -> {
            assertThat(refusal.getHolderId()).isEqualTo(holder);
            assertThat(refusal.getRetryAfter()).isBetween(Duration.ZERO, TTL);
        });
    }

    @Test
    void ofSeveralHoldersTheOneIsNamedWhoseLeaseEndsFirst() throws Exception {
        Lease longest =
                base.otherRegistry().acquire(base.name, HELD.withPermits(2).withTtl(Duration.ofMinutes(10)));
        Lease first =
                base.otherRegistry().acquire(base.name, HELD.withPermits(2).withoutRenewal());
        String holder = ((LockRuntime) base.registry()).holders(base.name).get(1);
        LockNotAcquiredException refusal = catchThrowableOfType(
                LockNotAcquiredException.class, () -> base.registry().acquire(base.name, ONCE));
        assertThat(refusal.getHolderId()).isEqualTo(holder);
        assertThat(refusal.getRetryAfter()).isBetween(Duration.ZERO, TTL);
        first.close();
        longest.close();
    }

    @Test
    void aLockThatIsKeptIsFreeAfterThatTime() throws Exception {
        Actor.get(base.otherRegistry().acquire(base.name, HELD).closeAfter(Duration.ofSeconds(5)));
        assertThat(refusals(base.registry(), ONCE))
                .allSatisfy(
                        refusal -> assertThat(refusal.getRetryAfter()).isBetween(Duration.ZERO, Duration.ofSeconds(6)));
    }

    @Test
    void severalLocksAreRefusedWithTheHolderOfTheOneThatIsTaken() throws Exception {
        Function<String, NamedLock> handles = ((LockRuntime) base.registry()).handles(SOON);
        try (Lease held = base.otherRegistry().acquire(base.name, HELD)) {
            LockNotAcquiredException refusal = HeldLocks.acquire(Stream.of(base.name + "-", base.name)
                            .map(each -> HeldLocks.wanted(handles.apply(each), null, null))
                            .toList())
                    .refusal();
            assertThat(refusal.getLockName()).isEqualTo(base.name);
            assertThat(refusal.getHolderId()).isEqualTo(holder());
            assertThat(held.isValid()).isTrue();
        }
    }
}
