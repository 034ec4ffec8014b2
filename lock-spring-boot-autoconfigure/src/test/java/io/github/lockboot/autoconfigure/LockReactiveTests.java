package io.github.lockboot.autoconfigure;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LogReader;
import io.github.lockboot.RecordingLockRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Methods that return a publisher: each subscription takes the lock and holds it until its end. */
class LockReactiveTests {

    private final RecordingLockRegistry registry = new RecordingLockRegistry();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean(RecordingLockRegistry.class, () -> registry)
            .withBean(Work.class);

    private interface WorkTest {
        void accept(Work work);
    }

    private void run(WorkTest test) {
        runner.run(context -> test.accept(context.getBean(Work.class)));
    }

    @Test
    void withoutASubscriptionNothingIsLocked() {
        run(Work::mono);
        assertThat(registry.events()).isEmpty();
    }

    @Test
    void eachSubscriptionOfAMonoIsLocked() {
        run(work -> {
            Mono<String> mono = work.mono();
            work.sink().tryEmitValue("done");
            assertThat(mono.block()).isEqualTo("done");
            assertThat(mono.block()).isEqualTo("done");
        });
        assertThat(registry.events()).containsExactly("lock x", "body", "unlock x", "lock x", "body", "unlock x");
    }

    @Test
    void theLockIsHeldUntilTheMonoCompletes() {
        run(work -> {
            CompletableFuture<String> result = work.mono().toFuture();
            assertThat(registry.events()).containsExactly("lock x", "body");
            work.sink().tryEmitValue("done");
            assertThat(registry.events()).containsExactly("lock x", "body", "unlock x");
            assertThat(result).isCompletedWithValue("done");
        });
    }

    @Test
    void whatIsDoneOnTerminateIsDoneUnderTheLockAndWhatIsDoneFinallyIsNot() {
        run(work -> {
            work.sink().tryEmitValue("done");
            work.ended().block();
        });
        assertThat(registry.events()).containsExactly("lock x", "body", "terminate", "unlock x", "finally");
    }

    @Test
    void theLockIsHeldUntilTheFluxCompletes() {
        run(work -> {
            CompletableFuture<List<String>> result =
                    work.flux().doOnNext(registry::record).collectList().toFuture();
            work.sinks().tryEmitNext("one");
            work.sinks().tryEmitNext("two");
            work.sinks().tryEmitComplete();
            assertThat(result).isCompletedWithValue(List.of("one", "two"));
        });
        assertThat(registry.events()).containsExactly("lock x", "one", "two", "unlock x");
    }

    @Test
    void theLockIsReleasedWhenThePublisherFails() {
        run(work -> {
            Mono<String> mono = work.mono();
            work.sink().tryEmitError(new IllegalStateException("body"));
            assertThatThrownBy(mono::block).hasMessage("body");
        });
        assertThat(registry.events()).containsExactly("lock x", "body", "unlock x");
    }

    @Test
    void theLockIsReleasedWhenTheMethodFailsBeforeItReturns() {
        run(work -> assertThatThrownBy(() -> work.failing().block()).hasMessage("body"));
        assertThat(registry.events()).containsExactly("lock x", "unlock x");
    }

    @Test
    void theLockIsReleasedWhenTheSubscriptionIsCancelled() {
        run(work -> {
            Disposable one = work.mono().subscribe();
            one.dispose();
            Disposable other = work.flux().subscribe();
            other.dispose();
        });
        assertThat(registry.events()).containsExactly("lock x", "body", "unlock x", "lock x", "unlock x");
    }

    @Test
    void cancellingWhileItWaitsLeavesTheQueueAndTheBodyDoesNotRun() {
        registry.answerLater();
        run(work -> {
            Disposable subscription = work.mono().subscribe();
            CompletableFuture<?> request = registry.request("x");
            subscription.dispose();
            assertThat(request).isCancelled();
        });
        assertThat(registry.events()).isEmpty();
    }

    @Test
    void aGrantThatMeetsItsCancellationIsGivenBack() {
        registry.answerLater();
        run(work -> {
            for (int i = 0; i < 1_000; i++) {
                Disposable subscription = work.mono().subscribe();
                CompletableFuture<?> grant = CompletableFuture.runAsync(() -> registry.answer("x"));
                subscription.dispose();
                grant.join();
            }
        });
        assertThat(Collections.frequency(registry.events(), "unlock x"))
                .isEqualTo(Collections.frequency(registry.events(), "lock x"));
    }

    @Test
    void contentionIsAnErrorSignal() {
        registry.take("x");
        run(work -> {
            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> work.mono().block());
            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> work.flux().blockLast());
        });
        assertThat(registry.events()).isEmpty();
    }

    @Test
    void aLossIsAnErrorSignal() {
        run(work -> {
            CompletableFuture<String> result = work.mono().toFuture();
            registry.lose("x");
            work.sink().tryEmitValue("done");
            assertThatThrownBy(result::get).hasCauseInstanceOf(LockLostException.class);
        });
    }

    /** Reactor would write the exception to its log, and the name of the lock with it. */
    @Test
    void aLossThatIsFoundAfterACancellationIsThrownAtNobody() {
        try (LogReader log = new LogReader("reactor")) {
            run(work -> {
                Disposable subscription = work.mono().subscribe();
                registry.lose("x");
                subscription.dispose();
            });
            assertThat(registry.events()).containsExactly("lock x", "body", "unlock x");
            assertThat(log.messages()).noneMatch(message -> message.contains("'x'"));
        }
    }

    @Test
    void aFailureWinsOverALoss() {
        run(work -> {
            CompletableFuture<String> result = work.mono().toFuture();
            registry.lose("x");
            IllegalStateException failure = new IllegalStateException("body");
            work.sink().tryEmitError(failure);
            assertThatThrownBy(result::get).hasCause(failure);
            assertThat(failure.getSuppressed()).hasAtLeastOneElementOfType(LockLostException.class);
        });
    }

    @Test
    void theLockIsInTheReactorContext() {
        run(work -> assertThat(work.told().block()).isEqualTo("x 101"));
    }

    @Test
    void aLockIsKeptAfterTheEnd() {
        run(work -> work.kept().block());
        assertThat(registry.events()).containsExactly("lock kept", "keep kept");
    }

    static class Work {

        private final RecordingLockRegistry registry;
        private final Sinks.One<String> sink = Sinks.one();
        private final Sinks.Many<String> sinks = Sinks.many().multicast().directBestEffort();

        Work(RecordingLockRegistry registry) {
            this.registry = registry;
        }

        Sinks.One<String> sink() {
            return sink;
        }

        Sinks.Many<String> sinks() {
            return sinks;
        }

        @DistributedLock(name = "x")
        Mono<String> mono() {
            registry.record("body");
            return sink.asMono();
        }

        @DistributedLock(name = "x")
        Mono<String> ended() {
            return mono().doOnTerminate(() -> registry.record("terminate"))
                    .doFinally(signal -> registry.record("finally"));
        }

        @DistributedLock(name = "x")
        Flux<String> flux() {
            return sinks.asFlux();
        }

        @DistributedLock(name = "x")
        Mono<String> failing() {
            throw new IllegalStateException("body");
        }

        @DistributedLock(name = "x")
        Mono<String> told() {
            return Mono.deferContextual(context -> {
                LockContext lock = context.get(LockContext.class);
                return Mono.just(lock.name() + " " + lock.fencingToken());
            });
        }

        @DistributedLock(name = "kept", keepFor = "1m")
        Mono<Void> kept() {
            return Mono.empty();
        }
    }
}
