package io.github.lockboot.internal;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import io.github.lockboot.Actor;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class FuturesTests {

    private final CompletableFuture<String> future = new CompletableFuture<>();

    @Test
    void anInterruptCancelsWhatIsWaitedFor() {
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> Futures.await(future));
        assertThat(future).isCancelled();
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void whatHasCompletedBeforeTheInterruptCountsAndTheFlagStays() throws Exception {
        future.complete("done");
        Thread.currentThread().interrupt();
        assertThat(Futures.await(future)).isEqualTo("done");
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void whatIsToRunLaterRunsOnAThreadThatEndsWhenIdle() throws Exception {
        CompletableFuture<String> thread = new CompletableFuture<>();
        Futures.elsewhereAfter(1_000)
                .execute(() -> thread.complete(Thread.currentThread().getName()));
        assertThat(Actor.get(thread)).isEqualTo("lock-async");
    }

    @Test
    void aFailureComesOutAsItIs() {
        future.completeExceptionally(new IllegalArgumentException("bad"));
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> Futures.await(future))
                .withMessage("bad");
        CompletableFuture<String> broken = CompletableFuture.failedFuture(new StackOverflowError());
        assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> Futures.await(broken));
    }

    @Test
    void onlyTheWrapperIsTakenOff() {
        IOException cause = new IOException();
        assertThat(Futures.unwrap(new CompletionException(cause))).isSameAs(cause);
        assertThat(Futures.unwrap(new ExecutionException(cause))).isSameAs(cause);
        assertThat(Futures.unwrap(cause)).isSameAs(cause);
    }
}
