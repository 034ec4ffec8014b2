package io.github.lockboot.autoconfigure;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.IfNotAcquired;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.RecordingLockRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What a caller gets when another held the lock: in no case the method's body. */
class LockContentionTests {

    private final RecordingLockRegistry registry = new RecordingLockRegistry();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean(RecordingLockRegistry.class, () -> registry)
            .withBean(Jobs.class);

    @Test
    void aSkippedMethodGivesNothing() {
        registry.take("x");
        run(jobs -> {
            jobs.nothing();
            assertThat(jobs.object()).isNull();
            assertThat(jobs.optional()).isEmpty();
            assertThat(jobs.optionalInt()).isEmpty();
            assertThat(jobs.stage()).isCompletedWithValue(null);
            assertThat(jobs.optionalStage()).isCompletedWithValue(Optional.empty());
            assertThat(jobs.mono().blockOptional()).isEmpty();
            assertThat(jobs.flux().collectList().block()).isEmpty();
        });
        assertThat(registry.events()).isEmpty();
    }

    @Test
    void aFallbackOfAGenericBaseIsFound() {
        registry.take("o1");
        runner.withBean(Heir.class)
                .withBean(OtherHeir.class)
                .withBean(Narrow.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(Heir.class).run("o1")).isEqualTo("base o1");
                    assertThat(context.getBean(OtherHeir.class).run("o1")).isEqualTo("own o1");
                    assertThat(context.getBean(Narrow.class).run("o1")).isEqualTo("o1 was taken");
                });
    }

    /** As in its base, where the parameter has no other type. */
    @Test
    void aFallbackWithTheErasedTypesOfAGenericBaseIsFound() {
        registry.take("o1");
        runner.withBean(Plain.class).withBean(Both.class).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBean(Plain.class).run("o1")).isEqualTo("any o1");
            assertThat(context.getBean(Both.class).run("o1")).isEqualTo("narrow o1");
        });
    }

    @Test
    void aFreeLockIsNotSkipped() {
        run(jobs -> assertThat(jobs.optional()).contains("body"));
        assertThat(registry.events()).containsExactly("lock x", "body", "unlock x");
    }

    @Test
    void anOutageIsNoContention() {
        registry.cutOff("x");
        registry.cutOff("id");
        run(jobs -> {
            assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(jobs::nothing);
            assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> jobs.elsewhere("id"));
            assertThat(jobs.stage().toCompletableFuture())
                    .failsWithin(Duration.ofSeconds(60))
                    .withThrowableThat()
                    .withCauseInstanceOf(LockUnavailableException.class);
            assertThatExceptionOfType(LockUnavailableException.class)
                    .isThrownBy(() -> jobs.mono().block());
        });
        assertThat(registry.events()).isEmpty();
    }

    @Test
    void theFallbackGetsTheArguments() throws IOException {
        registry.take("id");
        run(jobs -> {
            assertThat(jobs.elsewhere("id")).isEqualTo("other id");
            assertThat(jobs.elsewhereWithCause("id")).isEqualTo("other id, id was taken");
        });
        assertThat(registry.events()).isEmpty();
    }

    @Test
    void theFallbacksFailureComesOutUnchanged() {
        registry.take("x");
        run(jobs -> assertThatExceptionOfType(IOException.class)
                .isThrownBy(jobs::failing)
                .withMessage("fallback"));
    }

    @Test
    void theFallbackOfAResultThatComesLaterIsWaitedFor() {
        registry.take("x");
        run(jobs -> {
            assertThat(jobs.stageElsewhere()).isCompletedWithValue("other");
            assertThat(jobs.monoElsewhere().block()).isEqualTo("other");
        });
    }

    @Test
    void theContentionOfALockInsideTheBodyIsNotOnesOwn() {
        registry.take("inner");
        run(jobs -> assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(jobs::outer));
        assertThat(registry.events()).containsExactly("lock x", "unlock x");
    }

    private interface JobsTest {
        void accept(Jobs jobs) throws IOException;
    }

    private void run(JobsTest test) {
        runner.run(context -> test.accept(context.getBean(Jobs.class)));
    }

    static class Jobs {

        private final RecordingLockRegistry registry;

        Jobs(RecordingLockRegistry registry) {
            this.registry = registry;
        }

        private <T> T body(T result) {
            registry.record("body");
            return result;
        }

        @DistributedLock(name = "x", ifNotAcquired = IfNotAcquired.SKIP)
        void nothing() {
            body("");
        }

        @DistributedLock(name = "x", ifNotAcquired = IfNotAcquired.SKIP)
        @Nullable
        Integer object() {
            return body(1);
        }

        @DistributedLock(name = "x", ifNotAcquired = IfNotAcquired.SKIP)
        Optional<String> optional() {
            return Optional.of(body("body"));
        }

        @DistributedLock(name = "x", ifNotAcquired = IfNotAcquired.SKIP)
        OptionalInt optionalInt() {
            return OptionalInt.of(body(1));
        }

        @DistributedLock(name = "x", ifNotAcquired = IfNotAcquired.SKIP)
        CompletionStage<String> stage() {
            return CompletableFuture.completedFuture(body(""));
        }

        @DistributedLock(name = "x", ifNotAcquired = IfNotAcquired.SKIP)
        CompletableFuture<Optional<String>> optionalStage() {
            return CompletableFuture.completedFuture(Optional.of(body("")));
        }

        @DistributedLock(name = "x", ifNotAcquired = IfNotAcquired.SKIP)
        Mono<String> mono() {
            return Mono.just(body(""));
        }

        @DistributedLock(name = "x", ifNotAcquired = IfNotAcquired.SKIP)
        Flux<String> flux() {
            return Flux.just(body(""));
        }

        @DistributedLock(key = "#id", fallback = "other")
        String elsewhere(String id) {
            return body(id);
        }

        private String other(String id) {
            return "other " + id;
        }

        @DistributedLock(key = "#id", fallback = "otherWithCause")
        String elsewhereWithCause(String id) {
            return body(id);
        }

        private String otherWithCause(String id, LockNotAcquiredException cause) {
            return "other " + id + ", " + cause.getLockName() + " was taken";
        }

        @DistributedLock(name = "x", fallback = "fail")
        void failing() throws IOException {
            body("");
        }

        void fail() throws IOException {
            throw new IOException("fallback");
        }

        @DistributedLock(name = "x", fallback = "otherStage")
        CompletableFuture<String> stageElsewhere() {
            return CompletableFuture.completedFuture(body(""));
        }

        CompletableFuture<String> otherStage() {
            return CompletableFuture.completedFuture("other");
        }

        @DistributedLock(name = "x", fallback = "otherMono")
        Mono<String> monoElsewhere() {
            return Mono.just(body(""));
        }

        Mono<String> otherMono() {
            return Mono.just("other");
        }

        @DistributedLock(name = "x", ifNotAcquired = IfNotAcquired.SKIP)
        void outer() {
            new LockTemplate(registry, Duration.ZERO).execute("inner", () -> body(""));
        }
    }

    abstract static class Base<T> {
        public abstract String run(T id);

        String busy(T id) {
            return "base " + id;
        }
    }

    static class Heir extends Base<String> {
        @Override
        @DistributedLock(key = "#id", fallback = "busy")
        public String run(String id) {
            return "body";
        }
    }

    static class OtherHeir extends Base<String> {
        @Override
        @DistributedLock(key = "#id", fallback = "busy")
        public String run(String id) {
            return "body";
        }

        @Override
        String busy(String id) {
            return "own " + id;
        }
    }

    abstract static class LockedBase<T> {
        @DistributedLock(key = "#id", fallback = "why")
        public String run(T id) {
            return "body";
        }
    }

    static class Narrow extends LockedBase<String> {
        String why(String id, LockNotAcquiredException cause) {
            return cause.getLockName() + " was taken";
        }
    }

    abstract static class ErasedBase<T> {
        @DistributedLock(key = "#id", fallback = "any")
        public String run(T id) {
            return "body";
        }

        String any(Object id) {
            return "any " + id;
        }
    }

    static class Plain extends ErasedBase<String> {}

    static class Both extends ErasedBase<String> {
        String any(String id) {
            return "narrow " + id;
        }
    }
}
