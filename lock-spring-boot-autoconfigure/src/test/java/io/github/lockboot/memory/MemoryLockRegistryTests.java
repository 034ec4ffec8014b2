package io.github.lockboot.memory;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.RecordingLockListener;
import io.github.lockboot.internal.Troubleshooting;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** What only the registry in memory can do. */
class MemoryLockRegistryTests {

    private static final LockOptions BRIEF = LockOptions.defaults().withTtl(Duration.ofSeconds(1));

    private final MemoryLockRegistry registry = new MemoryLockRegistry();
    private final MemoryLockRegistry other = registry.newInstance();
    private final NamedLock lock = registry.get("a");
    private final Actor actor = new Actor();

    @AfterEach
    void leave() {
        actor.close();
    }

    private <T> CompletableFuture<T> whileWaiting(CompletableFuture<T> waiting) {
        Actor.await("it waits", actor::isWaiting);
        assertThat(waiting).isNotDone();
        return waiting;
    }

    @Test
    void aNumberOfHoldersThatAdmitsNobodyIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new MemoryLockRegistry(BRIEF, Map.of(), 0))
                .withMessage("maxHolders must be positive, but is 0");
    }

    @Test
    void anExpiredHoldIsLostAndTheNextIsServed() throws Exception {
        AtomicInteger told = new AtomicInteger();
        lock.lock();
        lock.onLost(told::incrementAndGet);
        long token = lock.fencingToken();
        CompletableFuture<Long> next = whileWaiting(actor.start(() -> {
            other.get("a").lock();
            return other.get("a").fencingToken();
        }));
        assertThat(registry.expire("a")).isTrue();
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThat(Actor.get(next)).isGreaterThan(token);
        Actor.await("it is told", () -> told.get() == 1);
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(lock::unlock)
                .withMessageEndingWith(
                        "was lost: its lease ran out; see " + Troubleshooting.PAGE + "locklostexception");
    }

    static Stream<LockOptions> heldTogether() {
        return Stream.of(LockOptions.defaults().shared(), LockOptions.defaults().withPermits(3));
    }

    @ParameterizedTest
    @MethodSource("heldTogether")
    void allWhoHoldALockTogetherAreExpired(LockOptions options) throws Exception {
        List<Lease> held =
                List.of(registry.acquire("a", options), registry.acquire("a", options), other.acquire("a", options));
        CompletableFuture<Lease> next =
                registry.newInstance().acquireAsync("a", LockOptions.defaults().withWaitTime(Duration.ofMinutes(1)));
        assertThat(registry.expire("a")).isTrue();
        assertThat(held).noneMatch(Lease::isValid);
        assertThat(Actor.get(next).isValid()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("heldTogether")
    void allWhoHoldALockTogetherAreRobbed(LockOptions options) throws Exception {
        List<Lease> held =
                List.of(registry.acquire("a", options), registry.acquire("a", options), other.acquire("a", options));
        try (Lease thief = Actor.get(CompletableFuture.supplyAsync(() -> registry.steal("a")))) {
            assertThat(held).noneMatch(Lease::isValid);
            assertThat(thief.isValid()).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("heldTogether")
    void aThiefSharesWithNobodyWhateverTheDefaults(LockOptions defaults) throws Exception {
        MemoryLockRegistry together = new MemoryLockRegistry(defaults, Map.of());
        Lease held = together.acquire("a", defaults);
        try (Lease thief = Actor.get(CompletableFuture.supplyAsync(() -> together.steal("a")))) {
            assertThat(held.isValid()).isFalse();
            assertThat(thief.isValid()).isTrue();
            assertThat(together.get("a").tryLock()).isFalse();
        }
        assertThat(together.get("a").tryLock()).isTrue();
    }

    /** Nobody here may have it beside the one who has it now. */
    @Test
    void aLockThatLingersIsNotTakenUpAgainOnceItIsExpiredOrStolen() throws Exception {
        LockOptions lingering =
                LockOptions.defaults().withLinger(Duration.ofMinutes(1)).withWaitTime(Duration.ZERO);
        for (boolean stolen : new boolean[] {false, true}) {
            registry.acquire("mine", lingering).close();
            assertThat(registry.get("mine").isLocked()).isTrue();
            Lease next;
            if (stolen) {
                next = other.steal("mine");
            } else {
                assertThat(other.expire("mine")).isTrue();
                next = other.acquire("mine", LockOptions.defaults().withWaitTime(Duration.ZERO));
            }
            assertThat(registry.tryAcquire("mine", lingering)).isEmpty();
            next.close();
        }
    }

    /** By the other registry that shares them, before it returns. */
    @ParameterizedTest
    @MethodSource("heldTogether")
    void aHolderKnowsAtOnceThatItsLockWasExpiredOrStolenByAnotherRegistry(LockOptions options) throws Exception {
        for (boolean stolen : new boolean[] {false, true}) {
            Lease lease = registry.acquire("b", options);
            if (stolen) {
                other.steal("b").close();
            } else {
                other.expire("b");
            }
            assertThat(lease.isValid()).isFalse();
            assertThatExceptionOfType(LockLostException.class)
                    .isThrownBy(() -> Actor.get(lease.closeAfter(Duration.ofHours(1))));
        }
    }

    @ParameterizedTest
    @MethodSource("heldTogether")
    void aLockThatStaysTakenAfterItsHoldCanBeExpiredAndStolen(LockOptions options) throws Exception {
        for (boolean stolen : new boolean[] {false, true}) {
            Actor.get(registry.acquire("b", options).closeAfter(Duration.ofSeconds(Long.MAX_VALUE)));
            assertThat(registry.get("b").isLocked()).isTrue();
            if (stolen) {
                other.steal("b").close();
            } else {
                assertThat(other.expire("b")).isTrue();
            }
            assertThat(registry.get("b").isLocked()).isFalse();
        }
    }

    @Test
    void thereMayBeNothingToExpire() {
        assertThat(registry.expire("a")).isFalse();
        assertThat(registry.inUse()).isZero();
    }

    @Test
    void whatIsStolenStaysAnothersUntilThatOneIsDone() throws Exception {
        lock.lock();
        long token = lock.fencingToken();
        CompletableFuture<Boolean> waiting = whileWaiting(actor.start(() -> lock.tryLock(20, TimeUnit.SECONDS)));
        Lease thief = other.steal("a");
        assertThat(thief.fencingToken()).isGreaterThan(token);
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(lock::unlock)
                .withMessageContaining("was lost: it was stolen; see https://");
        assertThat(lock.tryLock()).isFalse();
        assertThat(waiting).isNotDone();
        thief.close();
        assertThat(Actor.get(waiting)).isTrue();
    }

    @Test
    void aFreeLockMayBeTakenByAnother() {
        try (Lease thief = registry.steal("a")) {
            assertThat(thief.isValid()).isTrue();
            assertThat(lock.tryLock()).isFalse();
        }
        assertThat(lock.tryLock()).isTrue();
    }

    @Test
    void onlyALeaseThatIsNotRenewedRunsOut() {
        NamedLock renewed = registry.get("renewed", BRIEF.withTtl(Duration.ofSeconds(6)));
        NamedLock fixed = registry.get("fixed", BRIEF.withoutRenewal());
        renewed.lock();
        fixed.lock();
        assertThat(fixed.remainingLease()).isBetween(Duration.ofNanos(1), Duration.ofSeconds(1));
        Actor.awaitRenewals(4, renewed::remainingLease); // for longer than both
        assertThat(fixed.isHeldByCurrentThread()).isFalse();
        assertThat(renewed.isHeldByCurrentThread()).isTrue();
    }

    @Test
    void theNextWaiterGetsALeaseThatHasRunOut() throws Exception {
        LockOptions brief = BRIEF.withoutRenewal();
        Lease first = registry.acquire("a", brief);
        CompletableFuture<Lease> second = registry.acquireAsync("a", brief);
        CompletableFuture<Boolean> third =
                whileWaiting(actor.start(() -> other.get("a", brief).tryLock(10, TimeUnit.SECONDS)));
        assertThat(Actor.get(second).isValid()).isTrue();
        assertThat(first.isValid()).isFalse();
        assertThat(Actor.get(third)).isTrue();
    }

    @Test
    void severalLocksAreTriedOnceAlsoWithTheLeastWaitTime() throws Exception {
        other.get("b").lock();
        for (TimeUnit unit : TimeUnit.values()) {
            CompletableFuture<Boolean> refused =
                    actor.start(() -> registry.allOf(List.of("a", "b")).tryLock(Long.MIN_VALUE, unit));
            assertThat(Actor.get(refused)).isFalse();
        }
    }

    static Stream<LockOptions> kinds() {
        return Stream.of(
                LockOptions.defaults(),
                LockOptions.defaults().shared(),
                LockOptions.defaults().withPermits(2));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void severalLocksAreTriedAtOnce(LockOptions kind) {
        RecordingLockListener listener = new RecordingLockListener();
        registry.addListener(listener);
        other.get("b").lock();
        assertThat(registry.allOf(List.of("a", "b", "c"), kind).tryLock()).isFalse();
        other.get("b").unlock();
        assertThat(listener.told)
                .containsExactly(
                        "requested a",
                        "acquired a ASKED",
                        "requested c",
                        "acquired c ASKED",
                        "released c",
                        "requested b",
                        "notAcquired b",
                        "released a");
    }

    @Test
    void listenersHearOfRenewalsAndOfAHolderThatIsStuck() {
        RecordingLockListener listener = new RecordingLockListener();
        registry.addListener(listener);
        registry.get("a", BRIEF.withMaxHold(Duration.ofMillis(1_500))).lock();
        assertThat(listener.uses.get(0).holderId()).isNotNull();
        String lost = "lost a it was held beyond lock.max-hold (1500ms)";
        listener.await(lost);
        assertThat(listener.told)
                .containsSubsequence("requested a", "acquired a ASKED", "renewed a", "stuck a", lost)
                .containsOnlyOnce("stuck a");
    }

    @Test
    void nothingIsLeftOfNamesThatWereUsedOnce() {
        for (int i = 0; i < 100_000; i++) {
            NamedLock once = registry.get("once " + i);
            once.lock();
            once.unlock();
        }
        assertThat(registry.inUse()).isZero();
    }

    @Test
    void itNeedsNeitherSpringNorARedisClient() throws Exception {
        ClassLoader poor = new ClassLoader(getClass().getClassLoader()) {

            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                if (name.startsWith("org.springframework.") || name.startsWith("io.lettuce.")) {
                    throw new ClassNotFoundException(name);
                }
                if (!name.startsWith("io.github.lockboot.")) {
                    return super.loadClass(name, resolve);
                }
                Class<?> loaded = findLoadedClass(name);
                return loaded != null ? loaded : define(name);
            }

            private Class<?> define(String name) throws ClassNotFoundException {
                try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
                    byte[] bytes = file.readAllBytes();
                    return defineClass(name, bytes, 0, bytes.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        };
        Class<?> use = Class.forName(WithoutSpring.class.getName(), true, poor);
        Constructor<?> constructor = use.getDeclaredConstructor();
        constructor.setAccessible(true);
        ((Callable<?>) constructor.newInstance()).call();
    }

    /** Contention between instances, a lease and a loss. */
    private static final class WithoutSpring implements Callable<Boolean> {

        private WithoutSpring() {}

        @Override
        public Boolean call() throws Exception {
            MemoryLockRegistry registry = new MemoryLockRegistry();
            registry.get("a").lock();
            CompletableFuture<Lease> waiting = registry.newInstance().acquireAsync("a");
            registry.expire("a");
            waiting.get(20, TimeUnit.SECONDS).close();
            registry.close();
            return true;
        }
    }

    @Test
    void anotherInstanceIsAnotherOwnerEvenOnTheSameThread() {
        lock.lock();
        assertThat(other.get("a").tryLock()).isFalse();
        assertThat(other.get("a").getHoldCount()).isZero();
        assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(other.get("a")::unlock);
    }

    @Test
    void aClosedInstanceGrantsNothingAndDoesNotHinderOthers() throws Exception {
        lock.lock();
        CompletableFuture<Boolean> waiting =
                whileWaiting(actor.start(() -> other.get("a").tryLock(20, TimeUnit.SECONDS)));
        other.close();
        assertThatExceptionOfType(LockUnavailableException.class)
                .isThrownBy(() -> Actor.get(waiting))
                .withMessage("lock 'a' is unavailable: the registry is closing; see " + Troubleshooting.PAGE
                        + "lockunavailableexception");
        assertThatExceptionOfType(LockUnavailableException.class)
                .isThrownBy(() -> other.acquire("b", LockOptions.defaults()));
        assertThatExceptionOfType(LockUnavailableException.class)
                .isThrownBy(() -> other.get("b").lock());
        lock.unlock();
        assertThat(lock.tryLock()).isTrue();
        lock.unlock();
        assertThat(registry.inUse()).isZero();
    }

    @Test
    void defaultsMayBeOthers() {
        MemoryLockRegistry quick =
                new MemoryLockRegistry(LockOptions.defaults().withTtl(Duration.ofMinutes(2)), Map.of());
        quick.get("a").lock();
        assertThat(quick.get("a").remainingLease()).isBetween(Duration.ofSeconds(100), Duration.ofMinutes(2));
    }
}
