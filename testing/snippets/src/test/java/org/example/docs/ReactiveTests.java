package org.example.docs;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.Lease;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockNotAcquiredException;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What docs/api.md shows of reactive and asynchronous methods. */
class ReactiveTests extends OnRedis {

    private static final Duration LONG = Duration.ofSeconds(60);

    @Autowired
    private Shipping shipping;

    @Test
    void aStageHoldsTheLockUntilItCompletes() throws Exception {
        CompletableFuture<String> shipped = shipping.ship("1");
        assertThat(shipped.get(60, TimeUnit.SECONDS)).isEqualTo("shipped 1");
        assertThat(registry.get("ship:1").isLocked()).isFalse();
    }

    @Test
    void eachSubscriptionTakesTheLock() {
        Mono<Long> tracked = shipping.track("2");
        Long first = tracked.block(LONG);
        assertThat(tracked.block(LONG)).isGreaterThan(first);
        assertThat(shipping.events("2").collectList().block(LONG)).containsExactly("packed", "sent");
    }

    @Test
    void contentionIsAnErrorSignal() throws Exception {
        try (Lease other = anotherInstance().acquire("ship:3", ONCE)) {
            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> shipping.track("3").block(LONG));
            assertThat(other.isValid()).isTrue();
        }
    }

    @Test
    void withAsyncTheLockCoversTheWork() throws Exception {
        assertThat(shipping.label("4").get(60, TimeUnit.SECONDS)).isEqualTo("label under ship:4");
    }

    @Test
    void theTemplateTakesAStage() throws Exception {
        // tag::template
        CompletableFuture<String> sent = template.executeAsync("mail:5", () -> send("5"));
        // end::template
        assertThat(sent.get(60, TimeUnit.SECONDS)).isEqualTo("sent 5");
    }

    @Test
    void aWaitThatIsCancelledLeavesTheQueue() throws Exception {
        Lease held = anotherInstance().acquire("mail:6", ONCE);
        // tag::cancel
        CompletableFuture<Lease> waiting = registry.acquireAsync("mail:6");
        waiting.cancel(false); // leaves the queue; a lease granted just then is released
        // end::cancel
        held.close();
        registry.acquire("mail:6").close();
        assertThat(waiting).isCancelled();
    }

    private CompletionStage<String> send(String id) {
        return CompletableFuture.supplyAsync(() -> "sent " + id);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableAsync
    @Import(Shipping.class)
    static class Application {}
}

class Shipping {

    // tag::future
    @DistributedLock(name = "ship", key = "#id")
    public CompletableFuture<String> ship(String id) { // held until the future completes
        return CompletableFuture.supplyAsync(() -> "shipped " + id);
    }
    // end::future

    // tag::mono
    @DistributedLock(name = "ship", key = "#id", waitTime = "1s")
    public Mono<Long> track(String id) { // locked once per subscription, until it completes, fails or is cancelled
        return Mono.deferContextual(
                context -> Mono.just(context.get(LockContext.class).fencingToken()));
    }
    // end::mono

    @DistributedLock(name = "ship", key = "#id")
    public Flux<String> events(String id) {
        return Flux.just("packed", "sent");
    }

    // tag::async
    @Async
    @DistributedLock(name = "ship", key = "#id")
    public CompletableFuture<String> label(String id) { // lock and body on the executor's thread
        return CompletableFuture.completedFuture(
                "label under " + LockContext.current().name());
    }
    // end::async
}
