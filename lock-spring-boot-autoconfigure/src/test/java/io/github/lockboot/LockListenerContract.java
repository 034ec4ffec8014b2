package io.github.lockboot;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What every registry tells its listeners. */
public abstract class LockListenerContract {

    private static final LockOptions ONCE = LockOptions.defaults().withWaitTime(Duration.ZERO);
    private static final LockOptions PATIENT = LockOptions.defaults().withWaitTime(Duration.ofSeconds(30));

    private final LockListener broken = new LockListener() {

        @Override
        public void requested(LockUse use) {
            throw new IllegalStateException("broken");
        }

        @Override
        public void acquired(LockUse use, Origin origin, Duration waited) {
            throw new AssertionError("broken");
        }

        @Override
        public void released(LockUse use, Duration held, boolean known) {
            throw new IllegalStateException("broken");
        }
    };

    protected final RecordingLockListener listener = new RecordingLockListener();
    private final Actor actor = new Actor();
    private LockRegistry registry;
    private LockRegistry other;

    /** A registry that tells these listeners. */
    protected abstract LockRegistry registry(LockListener... listeners);

    /** Another instance, on the same locks, to which nobody listens. */
    protected abstract LockRegistry other(LockRegistry registry);

    protected abstract void close(LockRegistry registry);

    /** Has the hold of that name lost. */
    protected abstract void lose(LockRegistry registry, String name);

    @BeforeEach
    void make() {
        registry = registry(broken, listener);
        registry.get("any").isLocked(); // has it connected
        other = other(registry);
    }

    @AfterEach
    void stop() {
        actor.close();
    }

    @Test
    void aHoldIsToldFromRequestToReleaseOnItsOwnThreadWhateverAnotherListenerThrows() {
        NamedLock lock = registry.get("told", LockOptions.defaults().withGroup("kind"));
        lock.lock();
        lock.lock();
        LockUse use = listener.uses.get(0);
        assertThat(use.fencingToken()).isEqualTo(lock.fencingToken());
        assertThat(use.remainingLease()).isPositive();
        lock.unlock();
        lock.unlock();
        assertThat(listener.told).containsExactly("requested told", "acquired told ASKED", "released told");
        assertThat(listener.threads).containsOnly(Thread.currentThread());
        assertThat(listener.uses).containsOnly(use);
        assertThat(use.group()).isEqualTo("kind");
        assertThat(use.thread()).isSameAs(Thread.currentThread());
        assertThat(use.fencingToken()).isPositive();
        assertThat(use.remainingLease()).isZero();
    }

    /** The last one entered leaves first, and what a listener throws is kept from the body. */
    @Test
    void listenersPutSomethingAroundWhatRunsUnderALock() {
        List<String> around = new ArrayList<>();
        registry.addListener(around("a", around));
        registry.addListener(around("b", around));
        LockTemplate template = new LockTemplate(registry, Duration.ofSeconds(10));
        template.execute("body", () -> around.add("body"));
        assertThat(around).containsExactly("in a", "in b", "body", "out b", "out a");
        around.clear();
        template.executeAsync("body", () -> CompletableFuture.completedFuture(around.add("body")))
                .join();
        assertThat(around).containsExactly("in a", "in b", "body", "out b", "out a");
        around.clear();
        assertThat(((LockScope) registry.get("body")).enter()).isNull();
        assertThat(around).isEmpty();
    }

    private static LockListener around(String name, List<String> calls) {
        return new LockListener() {
            @Override
            public Runnable entering(LockUse use) {
                calls.add("in " + name);
                return () -> {
                    calls.add("out " + name);
                    throw new IllegalStateException("broken");
                };
            }
        };
    }

    @Test
    void whoBeginsToListenHearsNothingOfUsesThatBeganBefore() {
        RecordingLockListener late = new RecordingLockListener();
        registry.get("early").lock();
        registry.addListener(late);
        registry.get("early").unlock();
        assertThat(late.told).isEmpty();
        assertThat(listener.told).contains("released early");
    }

    @Test
    void aLeaseIsToldLikeAHold() {
        Lease lease = registry.acquireAsync("lease", PATIENT).join();
        lease.close();
        lease.close();
        assertThat(listener.told).containsExactly("requested lease", "acquired lease ASKED", "released lease");
        assertThat(listener.uses).allSatisfy(use -> assertThat(use.thread()).isNull());
    }

    @Test
    void whoFindsItHeldIsToldNotToHaveAcquiredIt() throws Exception {
        try (Lease held = other.acquire("held", PATIENT)) {
            assertThat(registry.get("held").tryLock()).isFalse();
            assertThat(registry.tryAcquire("held", ONCE)).isEmpty();
            assertThat(held.isValid()).isTrue();
        }
        assertThat(listener.told)
                .containsExactly("requested held", "notAcquired held", "requested held", "notAcquired held");
    }

    /** Until the channel is subscribed to, it finds out by asking. */
    @Test
    void whoWaitsIsToldToHaveBeenGrantedItAndHowLongItTook() throws Exception {
        do {
            listener.clear();
            Lease held = other.acquire("waited", PATIENT);
            CompletableFuture<Void> waiting =
                    actor.begin(() -> registry.get("waited").lock());
            Actor.await("it waits", actor::isWaiting);
            held.close();
            Actor.get(waiting);
            actor.run(() -> registry.get("waited").unlock());
            assertThat(listener.times.get(1)).isPositive();
        } while (!listener.told.contains("acquired waited GRANTED"));
        assertThat(listener.told).containsExactly("requested waited", "acquired waited GRANTED", "released waited");
    }

    @Test
    void aWaitThatIsInterruptedOrCancelledIsAbandoned() throws Exception {
        try (Lease held = other.acquire("left", PATIENT)) {
            CompletableFuture<Void> waiting =
                    actor.begin(() -> registry.get("left").lockInterruptibly());
            Actor.await("it waits", actor::isWaiting);
            actor.interrupt();
            assertThatThrownBy(() -> Actor.get(waiting)).isInstanceOf(InterruptedException.class);
            assertThat(listener.told).containsExactly("requested left", "abandoned left");
            listener.clear();
            registry.acquireAsync("left", PATIENT).cancel(false);
            listener.await("abandoned left");
            assertThat(held.isValid()).isTrue();
            assertThat(listener.told).containsExactly("requested left", "abandoned left");
        }
    }

    @Test
    void aFlightThatFindsTheValueHasGivenUpTheLock() throws Exception {
        AtomicReference<String> cache = new AtomicReference<>();
        Lease lead = registry.acquire("flight", PATIENT);
        listener.clear();
        CompletableFuture<String> follower = new LockTemplate(registry, PATIENT.waitTime())
                .singleFlightAsync("flight", () -> CompletableFuture.completedFuture(cache.get()), () -> {
                    throw new AssertionError("it is loaded once");
                });
        listener.await("requested flight");
        cache.set("loaded");
        ((LockRuntime) registry).announce("flight");
        assertThat(Actor.get(follower)).isEqualTo("loaded");
        listener.await("abandoned flight");
        lead.close();
        assertThat(listener.told).containsExactly("requested flight", "abandoned flight", "released flight");
    }

    @Test
    void aLossIsToldOnceAndNoRelease() {
        NamedLock lock = registry.get("lost");
        lock.lock();
        lose(registry, "lost");
        Actor.await("it is told", () -> listener.told.size() == 3);
        assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
        assertThat(listener.told.get(2)).startsWith("lost lost ");
        assertThat(listener.told).hasSize(3);
        assertThat(listener.threads.get(2)).isNotSameAs(Thread.currentThread());
    }

    /** Whether the caller gets an exception depends on who is faster. */
    @Test
    void aLossThatASentReleaseFindsIsToldOnceAndNoRelease() throws Exception {
        LockRegistry registry = registry(listener);
        AtomicInteger lost = new AtomicInteger();
        Lease lease = registry.acquire("sent", LockOptions.defaults().withRelease(DistributedLock.Release.SEND));
        lease.onLost(lost::incrementAndGet);
        lose(registry, "sent");
        try {
            lease.close();
        } catch (LockLostException known) {
            assertThat(known.getLockName()).isEqualTo("sent");
        }
        Actor.await(
                "the loss is told",
                () -> lost.get() > 0 && listener.told.stream().anyMatch(told -> told.startsWith("lost sent")));
        assertThat(listener.told)
                .filteredOn(told -> told.startsWith("lost") || told.startsWith("released"))
                .hasSize(1);
        assertThat(lost).hasValue(1);
    }

    @Test
    void whoAsksAClosedRegistryIsToldThatItIsUnavailable() {
        close(registry);
        assertThatExceptionOfType(LockUnavailableException.class)
                .isThrownBy(() -> registry.get("closed").lock());
        assertThat(listener.told).containsExactly("requested closed", "unavailable closed");
    }
}
