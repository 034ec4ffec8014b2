package io.github.lockboot.autoconfigure;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.lockboot.Actor;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.IfNotAcquired;
import io.github.lockboot.RecordingLockRegistry;
import io.github.lockboot.aop.InvalidLockDefinitionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.task.TaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.web.context.request.async.DeferredResult;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A method's declared type may hide that its result comes later. The lock must cover that work, or the caller must be
 * told.
 */
class LockLaterResultTests {

    private final RecordingLockRegistry registry = new RecordingLockRegistry();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean(RecordingLockRegistry.class, () -> registry);

    @Test
    void aStageThatOnlyTheClassOfTheBeanNamesIsLockedUntilItCompletes() {
        runner.withBean(FutureCommand.class).run(context -> {
            CompletableFuture<String> work = new CompletableFuture<>();
            CompletableFuture<String> result =
                    context.getBean(FutureCommand.class).run(work);
            assertThat(registry.events()).containsExactly("lock command", "body");
            work.complete("done");
            assertThat(registry.events()).containsExactly("lock command", "body", "unlock command");
            assertThat(result).isCompletedWithValue("done");
        });
    }

    @Test
    void aPublisherThatOnlyTheClassOfTheBeanNamesIsLockedForEachSubscription() {
        runner.withBean(MonoCommand.class).run(context -> {
            Mono<String> result = context.getBean(MonoCommand.class).run(Mono.just("done"));
            assertThat(registry.events()).isEmpty();
            assertThat(result.block()).isEqualTo("done");
            assertThat(registry.events()).containsExactly("lock command", "body", "unlock command");
        });
    }

    @Test
    void aValueThatOnlyTheClassOfTheBeanNamesIsSkippedAsOne() {
        registry.take("command");
        runner.withBean(OptionalCommand.class)
                .run(context -> assertThat(
                                context.getBean(OptionalCommand.class).run(Optional.of("done")))
                        .isEmpty());
    }

    @Test
    void aStageThatOnlyTheClassOfTheBeanNamesIsSkippedAsOne() {
        registry.take("command");
        runner.withBean(FutureCommand.class)
                .run(context -> assertThat(context.getBean(FutureCommand.class).run(new CompletableFuture<>()))
                        .isCompletedWithValue(null));
    }

    @Test
    void anInheritedMethodOfAnAsyncClassIsLockedOnTheExecutorsThread() {
        registry.answerLater();
        try (Actor executor = new Actor()) {
            runner.withBean(AsyncWork.class)
                    .withBean(TaskExecutor.class, () -> task -> executor.begin(task::run))
                    .withUserConfiguration(AsyncConfiguration.class)
                    .run(context -> {
                        CompletableFuture<Thread> body =
                                context.getBean(AsyncWork.class).run();
                        Actor.await("it is asked for", () -> registry.request("x") != null);
                        Actor.await("its thread waits", executor::isWaiting);
                        registry.answer("x");
                        assertThat(Actor.get(body)).isSameAs(executor.call(Thread::currentThread));
                    });
        }
    }

    private static List<Object> later() {
        CompletionStage<String> minimal = new CompletableFuture<String>().minimalCompletionStage();
        return List.of(
                new CompletableFuture<>(),
                minimal,
                Mono.just(1),
                Flux.just(1, 2),
                Stream.of(1),
                new DeferredResult<>());
    }

    @ParameterizedTest
    @MethodSource("later")
    void whatComesLaterBehindAnObjectIsNotUnlockedInSilence(Object later) {
        runner.withBean(Hiding.class)
                .run(context -> assertThatExceptionOfType(InvalidLockDefinitionException.class)
                        .isThrownBy(() -> context.getBean(Hiding.class).run(later))
                        .withMessageStartingWith(Hiding.class.getName() + ".run(Object): has run and returned a ")
                        .withMessageContaining("but declares Object, so the lock is released before the work is done"));
        assertThat(registry.events()).containsExactly("lock x", "unlock x");
    }

    @Test
    void theMessageSaysWhatToDeclare() {
        runner.withBean(Hiding.class).run(context -> {
            Hiding bean = context.getBean(Hiding.class);
            assertThatThrownBy(() -> bean.run(new CompletableFuture<>()))
                    .hasMessageContaining("returned a CompletableFuture")
                    .hasMessageContaining(": return CompletableFuture and declare it; see https://");
            assertThatThrownBy(() -> bean.run(Flux.just(1).map(one -> one)))
                    .hasMessageContaining(": declare Flux; see https://");
            assertThatThrownBy(() -> bean.run(Stream.of(1)))
                    .hasMessageContaining(": return a collection and declare it; see https://");
        });
    }

    @Test
    @SuppressWarnings({"rawtypes", "unchecked"}) // as the container knows it
    void whatComesLaterFromABeanOfAGenericClassIsNotUnlockedInSilence() {
        runner.withBean(GenericHolder.class, GenericHolder::new)
                .run(context -> assertThatExceptionOfType(InvalidLockDefinitionException.class)
                        .isThrownBy(() -> context.getBean(GenericHolder.class).run(new CompletableFuture<>())));
    }

    @Test
    void whatComesLaterIsFoundUnderSeveralLocksToo() {
        runner.withBean(Hiding.class)
                .run(context -> assertThatExceptionOfType(InvalidLockDefinitionException.class)
                        .isThrownBy(() -> context.getBean(Hiding.class).underTwo(new CompletableFuture<>())));
        assertThat(registry.events()).containsExactly("lock x", "lock y", "unlock y", "unlock x");
    }

    private static List<Object> values() {
        Supplier<String> lambda = () -> "a value of an application may be a function";
        return List.of("text", 1, List.of(1), Optional.empty(), new Object(), lambda);
    }

    @ParameterizedTest
    @MethodSource("values")
    void whatIsThereBehindAnObjectComesOut(Object value) {
        runner.withBean(Hiding.class)
                .run(context ->
                        assertThat(context.getBean(Hiding.class).run(value)).isSameAs(value));
    }

    @Test
    void nullBehindAnObjectComesOut() {
        runner.withBean(Hiding.class)
                .run(context ->
                        assertThat(context.getBean(Hiding.class).run(null)).isNull());
    }

    abstract static class Command<R> {

        @Autowired
        private RecordingLockRegistry registry;

        @DistributedLock(name = "command", ifNotAcquired = IfNotAcquired.SKIP)
        R run(R result) {
            registry.record("body");
            return result;
        }
    }

    static class FutureCommand extends Command<CompletableFuture<String>> {}

    static class MonoCommand extends Command<Mono<String>> {}

    static class OptionalCommand extends Command<Optional<String>> {}

    static class Work {

        @DistributedLock(name = "x")
        public CompletableFuture<Thread> run() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }
    }

    @Async
    static class AsyncWork extends Work {}

    static class GenericHolder<R> {

        @DistributedLock(name = "x")
        R run(R result) {
            return result;
        }
    }

    static class Hiding {

        @DistributedLock(name = "x")
        Object run(Object result) {
            return result;
        }

        @DistributedLock(name = "x")
        @DistributedLock(name = "y")
        Object underTwo(Object result) {
            return result;
        }
    }

    @EnableAsync
    static class AsyncConfiguration {}
}
