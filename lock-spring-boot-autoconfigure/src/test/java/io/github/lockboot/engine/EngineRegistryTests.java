package io.github.lockboot.engine;

import java.time.Duration;
import java.util.Map;

import io.github.lockboot.DistributedLock.Mode;
import io.github.lockboot.DistributedLock.Release;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedReadWriteLock;
import io.github.lockboot.RecordingLockListener;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class EngineRegistryTests {

    private static final LockOptions ORDERS = LockOptions.defaults()
            .withGroup("order")
            .withTtl(Duration.ofSeconds(100))
            .withWaitTime(Duration.ofSeconds(30));

    private static final LockOptions CALLS = LockOptions.defaults().withGroup("call");

    private final LockOptions override = LockOptions.defaults().withWaitTime(Duration.ofSeconds(5));
    private final EngineRegistry registry = new MemoryLockRegistry(
            LockOptions.defaults().withoutRenewal(),
            Map.of("order", override, "call", LockOptions.defaults().withPermits(5)));

    private LockOptions resolve(LockOptions options) {
        return registry.get("a", options).options();
    }

    @Test
    void whatIsConfiguredForTheGroupTakesPrecedence() {
        assertThat(resolve(ORDERS))
                .isEqualTo(ORDERS.withWaitTime(Duration.ofSeconds(5))
                        .withoutRenewal()
                        .withRelease(Release.AWAIT));
        assertThat(resolve(ORDERS.withGroup("other")))
                .isEqualTo(ORDERS.withGroup("other").withoutRenewal().withRelease(Release.AWAIT));
    }

    @Test
    void whatIsLeftOpenComesFromTheDefaultsAndThenIsBuiltIn() {
        assertThat(resolve(LockOptions.defaults()))
                .isEqualTo(registry.get("a").options())
                .isEqualTo(LockOptions.defaults()
                        .withTtl(Duration.ofSeconds(30))
                        .withWaitTime(Duration.ofSeconds(10))
                        .withoutRenewal()
                        .withRelease(Release.AWAIT));
    }

    @Test
    void modePermitsAndReleaseAreOptionsLikeOthers() {
        assertThat(resolve(LockOptions.defaults().shared()).mode()).isEqualTo(Mode.SHARED);
        assertThat(resolve(LockOptions.defaults().withPermits(3)).permits()).isEqualTo(3);
        assertThat(resolve(CALLS).permits()).isEqualTo(5);
        assertThat(resolve(ORDERS.withRelease(Release.SEND)).release()).isEqualTo(Release.SEND);
        assertThat(resolve(ORDERS.withRelease(Release.DEFAULT)).release()).isEqualTo(Release.AWAIT);
        assertThat(resolve(CALLS.withPermits(3)).permits()).isEqualTo(5);
    }

    @Test
    void permitsThatAreConfiguredForASharedLockAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> registry.get("a", CALLS.shared()))
                .withMessage("lock.locks.[call].permits is 5, and the caller requests mode SHARED;"
                        + " remove the property, or do not request a shared lock");
        assertThatIllegalArgumentException().isThrownBy(() -> registry.readWrite("a", CALLS));
    }

    @Test
    void morePermitsThanALockMayHaveHoldersAreRefused() {
        String rest = ", and a lock has at most 7 holders; request fewer, or raise lock.max-holders in all instances";
        MemoryLockRegistry seven = new MemoryLockRegistry(LockOptions.defaults(), Map.of(), 7);
        LockOptions eight = LockOptions.defaults().withPermits(8);
        assertThat(seven.get("a", eight.withPermits(7)).options().permits()).isEqualTo(7);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> seven.get("a", eight))
                .withMessage("permits of lock 'a' is 8" + rest);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> seven.handles(eight.withGroup("call")))
                .withMessage("permits of group 'call' is 8" + rest);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new MemoryLockRegistry(LockOptions.defaults(), Map.of("call", eight), 7))
                .withMessage("permits of lock.locks.[call] is 8" + rest);
        assertThatIllegalArgumentException().isThrownBy(() -> new MemoryLockRegistry(eight, Map.of(), 7));
        assertThatIllegalArgumentException().isThrownBy(() -> registry.get("a", eight.withPermits(201)));
    }

    @Test
    void theSidesOfAReadWriteLockAreTheSharedAndTheExclusiveLockOfItsName() {
        NamedReadWriteLock both = registry.readWrite("a", ORDERS);
        assertThat(both.getName()).isEqualTo("a");
        assertThat(both.readLock().getName()).isEqualTo("a");
        assertThat(both.readLock().options()).isEqualTo(resolve(ORDERS.shared()));
        assertThat(both.writeLock().options()).isEqualTo(resolve(ORDERS));
        assertThat(registry.readWrite("a").writeLock().options())
                .isEqualTo(registry.get("a").options());
    }

    @Test
    void aReadWriteLockIsNeitherSharedNorLimited() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> registry.readWrite("a", ORDERS.shared()))
                .withMessage(
                        "mode is SHARED; it must be left out for a read-write lock, which has a side of each mode");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> registry.readWrite("a", ORDERS.withPermits(5)))
                .withMessage("permits is 5; it must be left out for a read-write lock, which has a side of each mode");
    }

    @Test
    void optionsThatContradictEachOtherAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ORDERS.shared().withPermits(5))
                .withMessage("permits is 5; it must be left out for mode SHARED, which allows any number of holders");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ORDERS.withPermits(0))
                .withMessage("permits is 0; it must be at least 1");
        assertThatIllegalArgumentException().isThrownBy(() -> ORDERS.withPermits(-1));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ORDERS.withLinger(Duration.ofMillis(-1)))
                .withMessage("linger is PT-0.001S; it must not be negative");
    }

    @Test
    void aLockLingersOnlyIfItIsExclusiveAndRenewed() {
        LockOptions lingering = ORDERS.withGroup("other").withRenewal().withLinger(Duration.ofSeconds(1));
        assertThat(resolve(lingering).linger()).isEqualTo(Duration.ofSeconds(1));
        assertThatIllegalArgumentException()
                .isThrownBy(lingering::shared)
                .withMessage("linger is PT1S; it must be left out for mode SHARED");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> lingering.withPermits(5))
                .withMessage("linger is PT1S; it must be left out for a lock with permits");
        assertThatIllegalArgumentException()
                .isThrownBy(lingering::withoutRenewal)
                .withMessage("linger is PT1S; it must be left out for a lease that is not renewed");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> resolve(LockOptions.defaults().withLinger(Duration.ofSeconds(1))));
        assertThat(resolve(LockOptions.defaults().withLinger(Duration.ZERO)).linger())
                .isZero();
    }

    @Test
    void whatIsResolvedStaysAsItIs() {
        LockOptions resolved = resolve(ORDERS.withMaxHold(Duration.ofMinutes(1)));
        assertThat(resolve(resolved)).isEqualTo(resolved);
    }

    @Test
    void aListenerThatIsAddedTwiceIsToldOnce() {
        RecordingLockListener listener = new RecordingLockListener();
        registry.addListener(listener);
        registry.addListener(listener);
        registry.get("a").lock();
        registry.addListener(listener);
        registry.get("a").unlock();
        registry.get("b").lock();
        registry.get("b").unlock();
        listener.await("released b");
        assertThat(listener.told)
                .containsExactly(
                        "requested a",
                        "acquired a ASKED",
                        "released a",
                        "requested b",
                        "acquired b ASKED",
                        "released b");
    }
}
