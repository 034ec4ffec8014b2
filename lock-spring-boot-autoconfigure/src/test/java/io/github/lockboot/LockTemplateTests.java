package io.github.lockboot;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.lockboot.LockTemplate.Attempt;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LockTemplateTests {

    private static final LockOptions ONCE = LockOptions.defaults().withWaitTime(Duration.ZERO);

    private final MemoryLockRegistry registry = new MemoryLockRegistry();
    private final LockTemplate template = new LockTemplate(registry, Duration.ofMinutes(1));
    private final NamedLock lock = registry.get("a");
    private final Actor actor = new Actor();

    @AfterEach
    void leave() {
        actor.close();
    }

    @Test
    void aNegativeWaitTimeIsRefusedWhenTheTemplateIsMade() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new LockTemplate(registry, Duration.ofNanos(-1)))
                .withMessage("waitTime is PT-0.000000001S; it must not be negative");
    }

    /** It would be one group for all keys, and a tag of metrics. */
    @ParameterizedTest
    @ValueSource(strings = {"order:#id", "#id", "o:#{#id}", "a-#_b"})
    void aGroupWithAVariableInItIsRefused(String group) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ONCE.withGroup(group))
                .withMessage("group is " + group
                        + "; it must be the same for all keys: leave out the # and what follows it");
    }

    @ParameterizedTest
    @ValueSource(strings = {"issue#1", "c#", "team#blue", "#", "#1", "a:# b"})
    void aGroupWithANumberSignThatBeginsNoWordIsFine(String group) {
        assertThat(ONCE.withGroup(group).group()).isEqualTo(group);
    }

    private void waitsForIt() {
        Actor.await("it waits", actor::isWaiting);
    }

    @Nested
    class Execute {

        @Test
        void theActionRunsUnderTheLock() {
            assertThat(template.execute("a", lock::isHeldByCurrentThread)).isTrue();
            assertThat(lock.isLocked()).isFalse();
        }

        @Test
        void anActionWithoutAResultRunsUnderTheLockToo() {
            AtomicBoolean held = new AtomicBoolean();
            template.executeWithoutResult("a", () -> held.set(lock.isHeldByCurrentThread()));
            assertThat(held).isTrue();
            assertThat(lock.isLocked()).isFalse();
            assertThatExceptionOfType(LockLostException.class)
                    .isThrownBy(() -> template.executeWithoutResult("a", () -> registry.expire("a")));
        }

        @Test
        void optionsAreThoseOfTheCall() {
            LockOptions options = LockOptions.defaults().withTtl(Duration.ofMinutes(9));
            assertThat(template.execute("a", options, lock::remainingLease)).isGreaterThan(Duration.ofMinutes(5));
        }

        @Test
        void whatTheActionThrowsComesOut() {
            IOException failure = new IOException("disk full");
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> template.execute("a", () -> {
                        throw failure;
                    }))
                    .isSameAs(failure);
            assertThat(lock.isLocked()).isFalse();
        }

        @Test
        void aLossBesideAFailureIsSuppressed() {
            IOException failure = new IOException("disk full");
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> template.execute("a", () -> {
                        registry.expire("a");
                        throw failure;
                    }));
            assertThat(failure.getSuppressed()).hasSize(1).hasOnlyElementsOfType(LockLostException.class);
        }

        @Test
        void aLossReplacesTheResult() {
            assertThatExceptionOfType(LockLostException.class)
                    .isThrownBy(() -> template.execute("a", () -> registry.expire("a")));
        }

        @Test
        void whoWaitsInVainIsTold() throws Exception {
            lock.lock();
            AtomicBoolean ran = new AtomicBoolean();
            LockOptions briefly = ONCE.withWaitTime(Duration.ofMillis(200));
            CompletableFuture<?> waiting = actor.start(() -> template.execute("a", briefly, () -> ran.getAndSet(true)));
            assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> Actor.get(waiting));
            assertThat(ran).isFalse();
        }

        @Test
        void anInterruptEndsTheWaitAndIsKept() throws Exception {
            lock.lock();
            CompletableFuture<Boolean> waiting = actor.start(() -> {
                try {
                    return template.execute("a", () -> false);
                } catch (LockNotAcquiredException interrupted) {
                    return interrupted.getCause() instanceof InterruptedException && Thread.interrupted();
                }
            });
            waitsForIt();
            actor.interrupt();
            assertThat(Actor.get(waiting)).isTrue();
        }

        @Test
        void aWaitLongerThanALongOfNanosecondsIsAWait() throws Exception {
            lock.lock();
            LockOptions forEver = LockOptions.defaults().withWaitTime(Duration.ofSeconds(Long.MAX_VALUE));
            CompletableFuture<Boolean> waiting = actor.start(() -> template.execute("a", forEver, () -> true));
            waitsForIt();
            lock.unlock();
            assertThat(Actor.get(waiting)).isTrue();
        }
    }

    @Nested
    class TryExecute {

        @Test
        void anAnswerTellsNullFromNotAcquired() throws Exception {
            Attempt<String> ran = template.tryExecute("a", () -> null);
            assertThat(ran.isAcquired()).isTrue();
            assertThat((Object) ran.get()).isNull();
            assertThat((Object) ran.orElse("other")).isNull();
            assertThat(ran).hasToString("Attempt[null]");

            lock.lock();
            Attempt<String> refused = actor.call(() -> template.tryExecute("a", ONCE, () -> "ran"));
            assertThat(refused.isAcquired()).isFalse();
            assertThat(refused.orElse("other")).isEqualTo("other");
            assertThat(refused).hasToString("Attempt[not acquired]");
            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(refused::get)
                    .satisfies(told -> assertThat(told.getLockName()).isEqualTo("a"));
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> refused.orElseThrow(IOException::new))
                    .withCauseInstanceOf(LockNotAcquiredException.class);
        }

        @Test
        void anInterruptIsNoAnswer() throws Exception {
            assertThat(actor.<Boolean>call(() -> {
                        Thread.currentThread().interrupt();
                        assertThatExceptionOfType(LockNotAcquiredException.class)
                                .isThrownBy(() -> template.tryExecute("a", () -> "ran"))
                                .withCauseInstanceOf(InterruptedException.class);
                        return Thread.interrupted();
                    }))
                    .isTrue();
            assertThat(lock.isLocked()).isFalse();
        }

        @Test
        void aRefusalInsideTheActionIsAFailureOfTheAction() {
            LockNotAcquiredException inner = new LockNotAcquiredException("b", Duration.ZERO);
            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> template.tryExecute("a", () -> {
                        throw inner;
                    }))
                    .isSameAs(inner);
        }
    }

    @Nested
    class ExecuteAsync {

        private final CompletableFuture<String> work = new CompletableFuture<>();

        private CompletableFuture<String> started() {
            CompletableFuture<Void> start = new CompletableFuture<>();
            CompletableFuture<String> result = template.executeAsync("a", () -> {
                start.complete(null);
                return work;
            });
            start.join();
            return result;
        }

        @Test
        void theLockIsHeldUntilTheStageCompletes() throws Exception {
            CompletableFuture<String> after = started().thenApply(value -> value + ", locked: " + lock.isLocked());
            assertThat(lock.isLocked()).isTrue();
            assertThat(lock.tryLock()).isFalse();
            work.complete("done");
            assertThat(Actor.get(after)).isEqualTo("done, locked: false");
        }

        @Test
        void theLockIsHeldUntilTheStageFails() {
            CompletableFuture<String> result = started();
            IOException failure = new IOException("disk full");
            work.completeExceptionally(failure);
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> Actor.get(result))
                    .isSameAs(failure);
            assertThat(lock.isLocked()).isFalse();
        }

        @Test
        void aFailureComesWithoutTheWrapperOfAStageInBetween() {
            CompletableFuture<String> result = template.executeAsync("a", () -> work.thenApply(String::trim));
            work.completeExceptionally(new IOException("disk full"));
            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(result::join)
                    .withCauseExactlyInstanceOf(IOException.class);
        }

        @Test
        void anActionThatStartsNothingReleasesTheLock() {
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(() -> Actor.get(template.executeAsync("a", () -> {
                        throw new IllegalStateException("not today");
                    })))
                    .withMessage("not today");
            assertThatExceptionOfType(NullPointerException.class)
                    .isThrownBy(() -> Actor.get(template.executeAsync("a", () -> null)))
                    .withMessage("the action returned null for a stage");
            assertThat(lock.isLocked()).isFalse();
        }

        @Test
        void nobodyIsBlockedWhileItWaits() throws Exception {
            lock.lock();
            CompletableFuture<String> result = template.executeAsync("a", () -> work);
            work.complete("done");
            assertThat(result).isNotDone();
            lock.unlock();
            assertThat(Actor.get(result)).isEqualTo("done");
        }

        @Test
        void whoWaitsInVainIsTold() {
            lock.lock();
            CompletableFuture<String> once = template.executeAsync("a", ONCE, () -> work);
            assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> Actor.get(once));
            LockOptions briefly = ONCE.withWaitTime(Duration.ofMillis(200));
            CompletableFuture<String> waiting = template.executeAsync("a", briefly, () -> work);
            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> Actor.get(waiting))
                    .satisfies(told -> assertThat(told.getWaited()).isGreaterThanOrEqualTo(Duration.ofMillis(200)));
        }

        @Test
        void cancellingEndsTheWait() {
            lock.lock();
            AtomicBoolean ran = new AtomicBoolean();
            CompletableFuture<String> result = template.executeAsync("a", () -> {
                ran.set(true);
                return work;
            });
            result.cancel(false);
            lock.unlock();
            assertThat(lock.isLocked()).isFalse();
            assertThat(ran).isFalse();
        }

        @Test
        void cancellingCancelsTheStageAndReleases() {
            CompletableFuture<String> result = started();
            result.cancel(false);
            Actor.await("it is cancelled", work::isCancelled);
            assertThatExceptionOfType(CancellationException.class).isThrownBy(result::join);
            Actor.await("it is released", () -> !lock.isLocked());
        }

        @Test
        void cancellingReleasesAlsoWhatCannotBeCancelled() {
            CompletableFuture<Void> start = new CompletableFuture<>();
            CompletableFuture<String> result = template.executeAsync("a", () -> {
                start.complete(null);
                return work.minimalCompletionStage();
            });
            start.join();
            result.cancel(false);
            Actor.await("it is released", () -> !lock.isLocked());
            assertThat(work).isNotDone();
        }

        @Test
        void aLossReplacesTheResult() {
            CompletableFuture<String> result = started();
            registry.expire("a");
            assertThat(result).isNotDone();
            work.complete("done");
            assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> Actor.get(result));
        }

        @Test
        void aLossBesideAFailureIsSuppressed() {
            CompletableFuture<String> result = started();
            registry.expire("a");
            IOException failure = new IOException("disk full");
            work.completeExceptionally(failure);
            assertThatExceptionOfType(IOException.class).isThrownBy(() -> Actor.get(result));
            assertThat(failure.getSuppressed()).hasSize(1).hasOnlyElementsOfType(LockLostException.class);
        }

        @Test
        void aNameThatNoLockMayHaveIsRefusedAtOnce() {
            assertThatIllegalArgumentException().isThrownBy(() -> template.executeAsync("", () -> work));
        }
    }
}
