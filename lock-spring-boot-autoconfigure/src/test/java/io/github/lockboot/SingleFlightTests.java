package io.github.lockboot;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import io.github.lockboot.memory.MemoryLockRegistry;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What one caller of a flight does, step by step. */
class SingleFlightTests {

    private static final String FLIGHT = "a";

    private final RecordingLockRegistry registry = new RecordingLockRegistry();
    private final LockTemplate template = new LockTemplate(registry, Duration.ofMinutes(1));
    private final AtomicReference<String> cache = new AtomicReference<>();

    private String look() {
        registry.record("look");
        return cache.get();
    }

    private String load() {
        registry.record("load");
        cache.set("loaded");
        return "loaded";
    }

    private String fly() {
        return template.singleFlight("a", this::look, this::load);
    }

    @Test
    void whatIsCachedNeedsNobody() {
        cache.set("cached");
        registry.cutOff(FLIGHT);
        assertThat(fly()).isEqualTo("cached");
        assertThat(registry.events()).containsExactly("look");
    }

    @Test
    void theLeaderLooksOnceMoreThenLoadsAnnouncesAndReleases() {
        assertThat(fly()).isEqualTo("loaded");
        assertThat(registry.events())
                .containsExactly("look", "lock " + FLIGHT, "look", "load", "announce " + FLIGHT, "unlock " + FLIGHT);
        assertThat(registry.isAnybodyListening()).isFalse();
    }

    @Test
    void theFirstLookCountsAgainstTheWaitTime() {
        template.singleFlight(
                "a",
                () -> {
                    Actor.pass(Duration.ofMillis(50));
                    return look();
                },
                this::load);
        assertThat(registry.waits())
                .singleElement(InstanceOfAssertFactories.DURATION)
                .isBetween(Duration.ZERO, Duration.ofMinutes(1).minusMillis(50));
    }

    @Test
    void aLeaderThatFindsItLoadedReleases() {
        String value = template.singleFlight(
                "a",
                () -> {
                    String found = look();
                    cache.set("by another");
                    return found;
                },
                this::load);
        assertThat(value).isEqualTo("by another");
        assertThat(registry.events()).containsExactly("look", "lock " + FLIGHT, "look", "unlock " + FLIGHT);
    }

    @Test
    void whoFollowsReadsAndTakesNoLock() {
        registry.announceElsewhere(FLIGHT, () -> cache.set("by another"));
        assertThat(fly()).isEqualTo("by another");
        assertThat(registry.events()).containsExactly("look", "look");
        assertThat(registry.request(FLIGHT)).isCancelled();
        assertThat(registry.isAnybodyListening()).isFalse();
    }

    @Test
    void whoFindsTheValueAndIsGrantedTheLockAtThatMomentGivesItBack() {
        registry.announceElsewhere(FLIGHT, () -> {
            cache.set("by another");
            registry.answer(FLIGHT);
        });
        assertThat(fly()).isEqualTo("by another");
        assertThat(registry.events()).containsOnlyOnce("unlock " + FLIGHT).doesNotContain("load");
    }

    @Test
    void whoFindsNothingWaitsOnInItsPlace() throws Exception {
        registry.announceElsewhere(FLIGHT, () -> {});
        try (Actor caller = new Actor()) {
            CompletableFuture<String> value = caller.start(this::fly);
            Actor.await("it waits again", () -> registry.events().size() == 2 && caller.isWaiting());
            registry.answer(FLIGHT);
            assertThat(Actor.get(value)).isEqualTo("loaded");
        }
        assertThat(registry.events()).containsExactly("look", "look", "look", "load", "announce a", "unlock a");
        assertThat(registry.waits()).hasSize(1);
    }

    @Test
    void aCacheThatFailsEndsTheWaitOfThatCaller() {
        registry.announceElsewhere(FLIGHT, () -> {});
        IllegalStateException failure = new IllegalStateException("the cache is down");
        assertThatThrownBy(() -> template.singleFlight(
                        "a",
                        () -> {
                            if (look() == null && registry.events().size() > 1) {
                                throw failure;
                            }
                            return null;
                        },
                        this::load))
                .isSameAs(failure);
        assertThat(registry.request(FLIGHT)).isCancelled();
        assertThat(registry.isAnybodyListening()).isFalse();
    }

    @Test
    void aRegistryThatFailsAfterTheGrantLeavesNoLeadBehind() {
        OutOfMemoryError error = new OutOfMemoryError("of a test");
        registry.failGetOnceTaken(error);
        assertThatThrownBy(this::fly).isSameAs(error);
        assertThat(registry.events()).containsExactly("look", "lock " + FLIGHT, "unlock " + FLIGHT);
    }

    @Test
    void aFailureComesOutAndTheLeadIsGivenOn() {
        IOException failure = new IOException("upstream is down");
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> template.<String, IOException>singleFlight("a", this::look, () -> {
                    throw failure;
                }))
                .isSameAs(failure);
        assertThat(registry.events()).containsExactly("look", "lock " + FLIGHT, "look", "unlock " + FLIGHT);
    }

    @Test
    void nothingLoadedIsAFailureThatSaysSo() {
        assertThatNullPointerException()
                .isThrownBy(() -> template.singleFlight("a", this::look, () -> null))
                .withMessageContaining("load")
                .withMessageContaining(FLIGHT);
        assertThat(registry.events()).endsWith("unlock " + FLIGHT);
    }

    @Test
    void aLossBesideAFailureIsSuppressed() {
        registry.lose(FLIGHT);
        IllegalStateException failure = new IllegalStateException("upstream is down");
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> template.singleFlight("a", this::look, () -> {
                    throw failure;
                }));
        assertThat(failure.getSuppressed()).hasSize(1).hasOnlyElementsOfType(LockLostException.class);
    }

    @Test
    void aLossReplacesTheResult() {
        registry.lose(FLIGHT);
        assertThatExceptionOfType(LockLostException.class).isThrownBy(this::fly);
    }

    @Test
    void contentionAndOutageAreToldApart() {
        registry.take(FLIGHT);
        assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(this::fly);
        registry.cutOff(FLIGHT);
        assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(this::fly);
        assertThat(registry.events()).containsOnly("look");
    }

    @Test
    void anInterruptBeforeTheWaitEndsItAndIsKept() {
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(this::fly)
                .withCauseInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(registry.events()).containsExactly("look");
    }

    @Test
    void optionsAreThoseOfTheCall() {
        LockOptions options =
                LockOptions.defaults().withTtl(Duration.ofMinutes(9)).withWaitTime(Duration.ofHours(1));
        template.singleFlight("a", options, this::look, this::load);
        assertThat(registry.optionsOf(FLIGHT).withWaitTime(options.waitTime())).isEqualTo(options);
        assertThat(registry.waits().get(0)).isGreaterThan(Duration.ofMinutes(59));
    }

    /** A registry that knows nothing of flights: one loads, the others get the lock one by one and find it cached. */
    @Test
    void withoutFollowersItIsADoubleCheckUnderALock() throws Exception {
        MemoryLockRegistry memory = new MemoryLockRegistry();
        LockTemplate plain = new LockTemplate(new PlainRegistry(memory), Duration.ofMinutes(1));
        CompletableFuture<Void> upstream = new CompletableFuture<>();
        try (Actor one = new Actor();
                Actor other = new Actor()) {
            CompletableFuture<String> leader = one.start(() -> plain.singleFlight("a", cache::get, () -> {
                upstream.join();
                return load();
            }));
            Actor.await("it leads", () -> memory.get(FLIGHT).isLocked());
            CompletableFuture<String> follower = other.start(() -> plain.singleFlight("a", cache::get, this::load));
            Actor.await("it waits", other::isWaiting);
            upstream.complete(null);
            assertThat(Actor.get(leader)).isEqualTo("loaded");
            assertThat(Actor.get(follower)).isEqualTo("loaded");
        }
        assertThat(registry.events()).containsExactly("load");
        assertThat(memory.get(FLIGHT).isLocked()).isFalse();
    }

    @Test
    void withoutFollowersACancelledWaitLeavesTheQueue() throws Exception {
        MemoryLockRegistry memory = new MemoryLockRegistry();
        Lease held = memory.acquire(FLIGHT);
        LockTemplate plain = new LockTemplate(new PlainRegistry(memory), Duration.ofMinutes(1));
        plain.singleFlightAsync("a", () -> CompletableFuture.completedFuture(null), CompletableFuture<String>::new)
                .cancel(false);
        held.close();
        assertThat(memory.get(FLIGHT).isLocked()).isFalse();
    }

    @Test
    void aMessageShowsTheNameOnOneLine() {
        assertThatNullPointerException()
                .isThrownBy(() -> template.singleFlight("a\nb", () -> null, () -> null))
                .withMessage(
                        "load returned null for lock 'a\\u000ab': return a value, such as an Optional that may be empty");
    }

    @Test
    void aFlightHasOneLeader() {
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> template.singleFlight("a", LockOptions.defaults().shared(), this::look, this::load))
                .withMessage(
                        "mode is SHARED; it must be left out for a single flight, in which one caller loads the value");
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> template.singleFlight("a", LockOptions.defaults().withPermits(5), this::look, this::load))
                .withMessage(
                        "permits is 5; it must be left out for a single flight, in which one caller loads the value");
    }

    /** What somebody writes who implements only what must be. */
    private record PlainRegistry(LockRegistry memory) implements LockRegistry {

        @Override
        public NamedLock get(String name, LockOptions options) {
            return memory.get(name, options);
        }

        @Override
        public CompletableFuture<Lease> acquireAsync(String name, LockOptions options) {
            return memory.acquireAsync(name, options);
        }
    }
}
