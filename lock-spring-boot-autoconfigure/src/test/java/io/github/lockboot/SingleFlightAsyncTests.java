package io.github.lockboot;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import io.github.lockboot.memory.MemoryLockRegistry;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Flights that block no caller. */
class SingleFlightAsyncTests {

    private static final String FLIGHT = "a";
    private static final LockOptions ONCE = LockOptions.defaults().withWaitTime(Duration.ZERO);

    private final MemoryLockRegistry registry = new MemoryLockRegistry();
    private final MemoryLockRegistry elsewhere = registry.newInstance();
    private final AtomicReference<String> cache = new AtomicReference<>();
    private final CompletableFuture<String> upstream = new CompletableFuture<>();
    private final CompletableFuture<Void> loading = new CompletableFuture<>();

    private CompletableFuture<String> look() {
        return CompletableFuture.completedFuture(cache.get());
    }

    private CompletableFuture<String> load() {
        loading.complete(null);
        return upstream;
    }

    private CompletableFuture<String> neverAsked() {
        throw new AssertionError("it is loaded once");
    }

    private static LockTemplate template(LockRegistry registry) {
        return new LockTemplate(registry, Duration.ofMinutes(1));
    }

    private CompletableFuture<String> leader() throws Exception {
        CompletableFuture<String> leader = template(registry).singleFlightAsync("a", this::look, this::load);
        Actor.get(loading);
        return leader;
    }

    @Test
    void whatIsCachedIsThereAtOnce() {
        cache.set("cached");
        assertThat(template(registry).singleFlightAsync("a", this::look, this::neverAsked))
                .isCompletedWithValue("cached");
    }

    @Test
    void oneLoadsAndAllReadIt() throws Exception {
        CompletableFuture<String> leader = leader();
        CompletableFuture<String> beside = template(registry).singleFlightAsync("a", this::look, this::neverAsked);
        CompletableFuture<String> other = template(elsewhere).singleFlightAsync("a", this::look, this::neverAsked);
        cache.set("loaded");
        upstream.complete("loaded");
        assertThat(Actor.get(leader)).isEqualTo("loaded");
        assertThat(Actor.get(beside)).isEqualTo("loaded");
        assertThat(Actor.get(other)).isEqualTo("loaded");
        Actor.await(
                "who was granted the lock meanwhile has given it back",
                () -> !registry.get(FLIGHT).isLocked());
    }

    @Test
    void aListenerThatBlocksForOneFollowerDelaysNone() throws Exception {
        CompletableFuture<Void> free = new CompletableFuture<>();
        registry.addListener(new LockListener() {
            @Override
            public void abandoned(LockUse use, Duration waited) {
                if (use.name().equals(FLIGHT)) {
                    free.join();
                }
            }
        });
        try {
            leader();
            CompletableFuture<String> blocked = template(registry).singleFlightAsync("a", this::look, this::neverAsked);
            Lease lead = registry.acquire("b", LockOptions.defaults());
            CompletableFuture<String> other = template(registry).singleFlightAsync("b", this::look, this::neverAsked);
            cache.set("loaded");
            upstream.complete("loaded");
            registry.announce("b");
            lead.close();
            assertThat(Actor.get(other)).isEqualTo("loaded");
            assertThat(Actor.get(blocked)).isEqualTo("loaded");
        } finally {
            free.complete(null);
        }
    }

    @Test
    void whenTheLeaderFailsAnotherLeads() throws Exception {
        CompletableFuture<String> leader = leader();
        CompletableFuture<String> next =
                template(elsewhere).singleFlightAsync("a", this::look, () -> CompletableFuture.completedFuture("next"));
        upstream.completeExceptionally(new IOException("upstream is down"));
        assertThatExceptionOfType(IOException.class).isThrownBy(() -> Actor.get(leader));
        assertThat(Actor.get(next)).isEqualTo("next");
        assertThat(registry.get(FLIGHT).isLocked()).isFalse();
    }

    @Test
    void aLeaderThatFindsItLoadedCompletes() throws Exception {
        Lease lead = registry.acquire(FLIGHT, LockOptions.defaults());
        CompletableFuture<String> next = template(elsewhere).singleFlightAsync("a", this::look, this::neverAsked);
        cache.set("loaded");
        lead.close(); // the next gets the lead, and looks
        assertThat(Actor.get(next)).isEqualTo("loaded");
        assertThat(registry.get(FLIGHT).isLocked()).isFalse();
    }

    @Test
    void whoFindsNothingCachedAfterwardsLeadsNextInTheTimeLeft() throws Exception {
        Lease lead = registry.acquire(FLIGHT, LockOptions.defaults());
        CompletableFuture<String> next = template(elsewhere).singleFlightAsync("a", this::look, this::load);
        registry.announce(FLIGHT);
        lead.close();
        upstream.complete("loaded");
        assertThat(Actor.get(next)).isEqualTo("loaded");
    }

    @Test
    void aCacheThatFailsEndsTheWaitOfThatCallerOnly() throws Exception {
        CompletableFuture<String> leader = leader();
        AtomicReference<CompletableFuture<String>> answer =
                new AtomicReference<>(CompletableFuture.completedFuture(null));
        CompletableFuture<String> failing = template(elsewhere).singleFlightAsync("a", answer::get, this::neverAsked);
        CompletableFuture<String> other = template(elsewhere).singleFlightAsync("a", this::look, this::neverAsked);
        answer.set(CompletableFuture.failedFuture(new IOException("the cache is down")));
        registry.announce("a");
        assertThatExceptionOfType(IOException.class).isThrownBy(() -> Actor.get(failing));
        cache.set("loaded");
        upstream.complete("loaded");
        assertThat(Actor.get(leader)).isEqualTo("loaded");
        assertThat(Actor.get(other)).isEqualTo("loaded");
    }

    @Test
    void theWaitIsBounded() throws Exception {
        leader();
        CompletableFuture<String> once = template(elsewhere).singleFlightAsync("a", ONCE, this::look, this::neverAsked);
        assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> Actor.get(once));
        LockOptions briefly = ONCE.withWaitTime(Duration.ofMillis(200));
        CompletableFuture<String> waiting =
                template(elsewhere).singleFlightAsync("a", briefly, this::look, this::neverAsked);
        assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> Actor.get(waiting));
    }

    @Test
    void cancellingAWaitEndsIt() throws Exception {
        Lease lead = registry.acquire(FLIGHT, LockOptions.defaults());
        CompletableFuture<String> waiting = template(elsewhere).singleFlightAsync("a", this::look, this::neverAsked);
        waiting.cancel(false);
        lead.close();
        assertThat(registry.get(FLIGHT).isLocked()).isFalse();
    }

    @Test
    void cancellingTheLeaderCancelsItsStageAndAnotherLeads() throws Exception {
        CompletableFuture<String> leader = leader();
        CompletableFuture<String> next =
                template(elsewhere).singleFlightAsync("a", this::look, () -> CompletableFuture.completedFuture("next"));
        leader.cancel(false);
        Actor.await("it is cancelled", upstream::isCancelled);
        assertThatExceptionOfType(CancellationException.class).isThrownBy(leader::join);
        assertThat(Actor.get(next)).isEqualTo("next");
    }

    @Test
    void cancellingDoesNotCancelTheStageOfTheCacheWhichMayBeShared() {
        CompletableFuture<String> shared = new CompletableFuture<>();
        template(registry)
                .singleFlightAsync("a", () -> shared, this::neverAsked)
                .cancel(true);
        assertThat(shared).isNotDone();
    }

    @Test
    void aLossReplacesTheResult() throws Exception {
        CompletableFuture<String> leader = leader();
        registry.expire(FLIGHT);
        upstream.complete("loaded");
        assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> Actor.get(leader));
    }

    @Test
    void stagesThatAreNoneAreFailures() {
        assertThatExceptionOfType(NullPointerException.class)
                .isThrownBy(() -> Actor.get(template(registry).singleFlightAsync("a", this::look, () -> null)));
        assertThatExceptionOfType(NullPointerException.class)
                .isThrownBy(() -> Actor.get(template(registry).singleFlightAsync("a", () -> null, this::load)));
        upstream.complete(null);
        assertThatExceptionOfType(NullPointerException.class)
                .isThrownBy(() -> Actor.get(template(registry).singleFlightAsync("a", this::look, this::load)))
                .withMessageContaining(FLIGHT);
        assertThat(registry.get(FLIGHT).isLocked()).isFalse();
    }

    @Test
    void aNameThatNoLockMayHaveIsAFailure() {
        String tooLong = "x".repeat(LockRegistry.MAX_NAME_LENGTH + 1);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Actor.get(template(registry).singleFlightAsync(tooLong, this::look, this::load)));
    }
}
