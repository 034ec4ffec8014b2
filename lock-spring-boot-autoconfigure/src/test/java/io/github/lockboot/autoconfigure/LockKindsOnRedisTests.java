package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

import io.github.lockboot.Actor;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.IfNotAcquired;
import io.github.lockboot.DistributedLock.KeepOn;
import io.github.lockboot.DistributedLock.Mode;
import io.github.lockboot.FencingToken;
import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.NamedLock;
import io.github.lockboot.OwnThread;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.TestRegistries;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.transaction.support.TransactionTemplate;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Annotated methods with a shared lock or a permit hold it in that mode, however they run and end, and give it back.
 */
@OwnThread
class LockKindsOnRedisTests {

    private static final LockOptions ONCE = LockOptions.defaults().withWaitTime(Duration.ZERO);
    private static final LockOptions PATIENT = LockOptions.defaults().withWaitTime(Duration.ofSeconds(30));

    private static RedisServer server;
    private static TestRegistries registries;
    private static LockRegistry registry;
    private static LockRegistry other;
    private static SingleConnectionDataSource database;

    private final TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(database));

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean(LockRegistry.class, () -> registry, bean -> bean.setDestroyMethodName(""))
            .withBean(Reports.class)
            .withBean(Calls.class)
            .withBean(Imports.class);

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        registries = TestRegistries.on(server);
        registry = registries.connected();
        other = registries.connected();
        database = new SingleConnectionDataSource("jdbc:h2:mem:kinds", "sa", "", true);
    }

    @AfterAll
    static void stop() {
        database.destroy();
        registries.close();
        server.close();
    }

    /** How a method holds its lock, and whom that lets in from another instance. */
    enum Held {
        SHARED(Reports.class, ONCE.shared()) {
            @Override
            void requireHeld(String name) {
                assertThat(isFree(name, ONCE)).isFalse();
                assertThat(isFree(name, ONCE.withPermits(9))).isFalse();
                assertThat(isFree(name, ONCE.shared())).isTrue();
            }
        },
        LIMITED(Calls.class, ONCE.withPermits(2)) {
            @Override
            void requireHeld(String name) {
                assertThat(isFree(name, ONCE)).isFalse();
                assertThat(isFree(name, ONCE.shared())).isFalse();
                assertThat(isFree(name, ONCE.withPermits(1))).isFalse();
                assertThat(isFree(name, ONCE.withPermits(2))).isTrue();
            }
        };

        private final Class<? extends Work> type;
        final LockOptions options;

        Held(Class<? extends Work> type, LockOptions options) {
            this.type = type;
            this.options = options;
        }

        abstract void requireHeld(String name);

        String lock(String method) {
            return type.getSimpleName() + "." + method;
        }
    }

    private static boolean isFree(String name, LockOptions options) {
        return other.get(name, options).tryLock() && release(other.get(name, options));
    }

    private static boolean release(NamedLock lock) {
        lock.unlock();
        return true;
    }

    private static void requireFree(String name) {
        assertThat(isFree(name, ONCE)).isTrue();
    }

    private interface WorkTest {
        void accept(Work work) throws Exception;
    }

    private void run(Held held, WorkTest test) {
        runner.run(context -> test.accept(context.getBean(held.type)));
    }

    @ParameterizedTest
    @EnumSource
    void aMethodHoldsItUntilItReturns(Held held) {
        run(held, work -> work.run(() -> held.requireHeld(held.lock("run"))));
        requireFree(held.lock("run"));
    }

    @ParameterizedTest
    @EnumSource
    void insideATransactionItIsHeldUntilTheCommit(Held held) {
        run(
                held,
                work -> transaction.executeWithoutResult(status -> {
                    work.run(() -> {});
                    work.run(() -> held.requireHeld(held.lock("run")));
                    held.requireHeld(held.lock("run"));
                }));
        requireFree(held.lock("run"));
    }

    @ParameterizedTest
    @EnumSource
    void insideATransactionItIsHeldUntilTheRollback(Held held) {
        run(
                held,
                work -> transaction.executeWithoutResult(status -> {
                    assertThatThrownBy(() -> work.run(() -> {
                                throw new IllegalArgumentException("body");
                            }))
                            .hasMessage("body");
                    held.requireHeld(held.lock("run"));
                    status.setRollbackOnly();
                }));
        requireFree(held.lock("run"));
    }

    @ParameterizedTest
    @EnumSource
    void ifItIsLostTheTransactionIsRolledBack(Held held) {
        run(
                held,
                work -> assertThatExceptionOfType(LockLostException.class)
                        .isThrownBy(() -> transaction.executeWithoutResult(status -> {
                            work.shortLease();
                            server.command("DEL", "lock:" + held.lock("shortLease"));
                            Await.until(
                                    "the loss",
                                    () -> !registry.get(held.lock("shortLease"), held.options)
                                            .isHeldByCurrentThread());
                        }))
                        .withMessageContaining("detected before commit; the transaction is rolled back"));
        requireFree(held.lock("shortLease"));
    }

    @Test
    void aTransactionThatWritesMayReadUnderTheSameLock() {
        String name = Held.SHARED.lock("run");
        runner.run(context -> transaction.executeWithoutResult(status -> {
            context.getBean(Imports.class).importPrices();
            context.getBean(Reports.class)
                    .run(() -> assertThat(isFree(name, ONCE.shared())).isFalse());
            assertThat(isFree(name, ONCE.shared())).isFalse();
        }));
        requireFree(name);
    }

    @Test
    void aTransactionThatReadsIsRefusedTheExclusiveLockUntilItsEnd() {
        runner.run(context -> transaction.executeWithoutResult(status -> {
            context.getBean(Reports.class).run(() -> {});
            assertThatIllegalStateException()
                    .isThrownBy(context.getBean(Imports.class)::importPrices)
                    .withMessageContaining("would wait for itself");
            Held.SHARED.requireHeld(Held.SHARED.lock("run"));
        }));
        requireFree(Held.SHARED.lock("run"));
    }

    @ParameterizedTest
    @EnumSource
    void itIsHeldUntilTheMonoEnds(Held held) {
        run(held, work -> {
            for (WorkEnd end : WorkEnd.values()) {
                Sinks.One<String> sink = Sinks.one();
                CompletableFuture<String> result = work.mono(sink.asMono()).toFuture();
                Await.until("subscribed", () -> sink.currentSubscriberCount() == 1);
                held.requireHeld(held.lock("mono"));
                switch (end) {
                    case VALUE -> sink.tryEmitValue("done");
                    case FAILURE -> sink.tryEmitError(new IllegalArgumentException("body"));
                    case CANCEL -> result.cancel(false);
                }
                Await.until("given back after " + end, () -> isFree(held.lock("mono"), ONCE));
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void itIsHeldUntilTheStageEnds(Held held) {
        run(held, work -> {
            for (WorkEnd end : WorkEnd.values()) {
                CompletableFuture<String> body = new CompletableFuture<>();
                CompletableFuture<String> result = work.stage(body);
                Await.until("begun", () -> body.getNumberOfDependents() > 0);
                held.requireHeld(held.lock("stage"));
                switch (end) {
                    case VALUE -> body.complete("done");
                    case FAILURE -> body.completeExceptionally(new IllegalArgumentException("body"));
                    case CANCEL -> result.cancel(false);
                }
                Await.until("given back after " + end, () -> isFree(held.lock("stage"), ONCE));
            }
        });
    }

    private enum WorkEnd {
        VALUE,
        FAILURE,
        CANCEL
    }

    @ParameterizedTest
    @EnumSource
    void besideAnExclusiveHolderTheFallbackAnswersAndTheOtherMethodIsSkipped(Held held) {
        run(held, work -> {
            try (Lease fallback = other.acquire(held.lock("orElse"), ONCE);
                    Lease skip = other.acquire(held.lock("orNothing"), ONCE)) {
                assertThat(work.orElse()).isEqualTo("fallback");
                assertThat(work.orNothing()).isEmpty();
                assertThat(fallback.isValid() && skip.isValid()).isTrue();
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void besideAHolderOfItsModeTheMethodRuns(Held held) {
        run(held, work -> {
            try (Lease fallback = other.acquire(held.lock("orElse"), held.options);
                    Lease skip = other.acquire(held.lock("orNothing"), held.options)) {
                assertThat(work.orElse()).isEqualTo("body");
                assertThat(work.orNothing()).contains("body");
                assertThat(fallback.isValid() && skip.isValid()).isTrue();
            }
        });
        requireFree(held.lock("orElse"));
        requireFree(held.lock("orNothing"));
    }

    @Test
    void withoutAPermitLeftTheFallbackAnswers() {
        run(Held.LIMITED, work -> {
            try (Lease one = other.acquire("Calls.orElse", Held.LIMITED.options);
                    Lease two = registry.acquire("Calls.orElse", Held.LIMITED.options)) {
                assertThat(work.orElse()).isEqualTo("fallback");
                assertThat(one.isValid() && two.isValid()).isTrue();
            }
            assertThat(work.orElse()).isEqualTo("body");
        });
    }

    @Test
    void aReaderThatTriesOnceIsRefusedWhileAWriterWaits() {
        run(Held.SHARED, work -> {
            CompletableFuture<Lease> writer;
            try (Lease reader = registries.registry().acquire("Reports.orElse", ONCE.shared())) {
                writer = other.acquireAsync("Reports.orElse", PATIENT);
                Await.until("the writer waits", () -> !isFree("Reports.orElse", ONCE.shared()));
                assertThat(work.orElse()).isEqualTo("fallback");
                assertThat(reader.isValid()).isTrue();
            }
            writer.get().close();
            assertThat(work.orElse()).isEqualTo("body");
        });
    }

    @ParameterizedTest
    @EnumSource
    void aKeptOneIsHeldInItsModeUntilItsTimeHasPassed(Held held) {
        run(held, work -> {
            long began = System.nanoTime();
            // The hold belongs to the call, not to the thread, which therefore is refused as any other.
            work.kept(
                    () -> assertThat(registry.get(held.lock("kept")).tryLock()).isFalse());
            held.requireHeld(held.lock("kept"));
            work.kept(() -> {}); // beside it, and is kept itself
            if (held == Held.LIMITED) {
                assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> work.kept(() -> {}));
            }
            try (Lease lease = other.acquire(held.lock("kept"), PATIENT)) {
                assertThat(lease.isValid()).isTrue();
                assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThanOrEqualTo(KEPT);
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void oneThatIsKeptOnSuccessIsFreeAfterAFailure(Held held) {
        run(
                held,
                work -> assertThatThrownBy(() -> work.keptOnSuccess(() -> {
                            throw new IllegalArgumentException("body");
                        }))
                        .hasMessage("body"));
        requireFree(held.lock("keptOnSuccess"));
    }

    @Test
    void readersThatHoldItTogetherHaveOneTokenBetweenThoseOfTheWriters() {
        run(Held.SHARED, work -> {
            long before = tokenOfAWriter();
            try (Lease reader = other.acquire("Reports.token", ONCE.shared())) {
                assertThat(work.token(0)).isEqualTo(reader.fencingToken()).isGreaterThanOrEqualTo(before);
                assertThat(work.token(0)).isEqualTo(reader.fencingToken());
            }
            assertThat(work.token(0)).isLessThan(tokenOfAWriter());
        });
    }

    private static long tokenOfAWriter() throws InterruptedException {
        try (Lease writer = other.acquire("Reports.token", ONCE)) {
            return writer.fencingToken();
        }
    }

    @Test
    void eachPermitHasALargerTokenThanTheOneBefore() {
        run(Held.LIMITED, work -> {
            try (Lease first = other.acquire("Calls.token", Held.LIMITED.options)) {
                assertThat(work.token(0)).isGreaterThan(first.fencingToken());
            }
        });
    }

    @Test
    void aWriterGetsItsTurnBesideReadersThatNeverStop() {
        AtomicBoolean stopped = new AtomicBoolean();
        run(Held.SHARED, work -> {
            List<CompletableFuture<Void>> readers = IntStream.range(0, 4)
                    .mapToObj(reader -> CompletableFuture.runAsync(
                            () -> {
                                while (!stopped.get()) {
                                    work.run(() -> Actor.pass(Duration.ofMillis(5)));
                                }
                            },
                            task -> new Thread(task).start()))
                    .toList();
            Await.until("readers hold it", () -> !isFree("Reports.run", ONCE));
            try (Lease writer = other.acquire("Reports.run", PATIENT)) {
                assertThat(writer.isValid()).isTrue();
            } finally {
                stopped.set(true);
            }
            CompletableFuture.allOf(readers.toArray(CompletableFuture<?>[]::new))
                    .get(60, TimeUnit.SECONDS);
        });
    }

    private static final Duration KEPT = Duration.ofMillis(2_500);

    interface Work {

        void run(Runnable body);

        void shortLease();

        Mono<String> mono(Mono<String> body);

        CompletableFuture<String> stage(CompletableFuture<String> body);

        String orElse();

        Optional<String> orNothing();

        void kept(Runnable body);

        void keptOnSuccess(Runnable body);

        long token(long token);
    }

    /** The writer of the first lock of {@link Reports}. */
    static class Imports {

        @DistributedLock(name = "Reports.run")
        public void importPrices() {}
    }

    static class Reports implements Work {

        @Override
        @DistributedLock(name = "Reports.run", mode = Mode.SHARED)
        public void run(Runnable body) {
            body.run();
        }

        @Override
        @DistributedLock(name = "Reports.shortLease", mode = Mode.SHARED, ttl = "1s")
        public void shortLease() {}

        @Override
        @DistributedLock(name = "Reports.mono", mode = Mode.SHARED)
        public Mono<String> mono(Mono<String> body) {
            return body;
        }

        @Override
        @DistributedLock(name = "Reports.stage", mode = Mode.SHARED)
        public CompletableFuture<String> stage(CompletableFuture<String> body) {
            return body;
        }

        @Override
        @DistributedLock(name = "Reports.orElse", mode = Mode.SHARED, waitTime = "0", fallback = "otherwise")
        public String orElse() {
            return "body";
        }

        String otherwise() {
            return "fallback";
        }

        @Override
        @DistributedLock(
                name = "Reports.orNothing",
                mode = Mode.SHARED,
                waitTime = "0",
                ifNotAcquired = IfNotAcquired.SKIP)
        public Optional<String> orNothing() {
            return Optional.of("body");
        }

        @Override
        @DistributedLock(name = "Reports.kept", mode = Mode.SHARED, waitTime = "0", keepFor = "2500ms")
        public void kept(Runnable body) {
            body.run();
        }

        @Override
        @DistributedLock(name = "Reports.keptOnSuccess", mode = Mode.SHARED, keepFor = "1m", keepOn = KeepOn.SUCCESS)
        public void keptOnSuccess(Runnable body) {
            body.run();
        }

        @Override
        @DistributedLock(name = "Reports.token", mode = Mode.SHARED)
        public long token(@FencingToken long token) {
            return token;
        }
    }

    static class Calls implements Work {

        @Override
        @DistributedLock(name = "Calls.run", permits = "2")
        public void run(Runnable body) {
            body.run();
        }

        @Override
        @DistributedLock(name = "Calls.shortLease", permits = "2", ttl = "1s")
        public void shortLease() {}

        @Override
        @DistributedLock(name = "Calls.mono", permits = "2")
        public Mono<String> mono(Mono<String> body) {
            return body;
        }

        @Override
        @DistributedLock(name = "Calls.stage", permits = "2")
        public CompletableFuture<String> stage(CompletableFuture<String> body) {
            return body;
        }

        @Override
        @DistributedLock(name = "Calls.orElse", permits = "2", waitTime = "0", fallback = "otherwise")
        public String orElse() {
            return "body";
        }

        String otherwise() {
            return "fallback";
        }

        @Override
        @DistributedLock(name = "Calls.orNothing", permits = "2", waitTime = "0", ifNotAcquired = IfNotAcquired.SKIP)
        public Optional<String> orNothing() {
            return Optional.of("body");
        }

        @Override
        @DistributedLock(name = "Calls.kept", permits = "2", waitTime = "0", keepFor = "2500ms")
        public void kept(Runnable body) {
            body.run();
        }

        @Override
        @DistributedLock(name = "Calls.keptOnSuccess", permits = "2", keepFor = "1m", keepOn = KeepOn.SUCCESS)
        public void keptOnSuccess(Runnable body) {
            body.run();
        }

        @Override
        @DistributedLock(name = "Calls.token", permits = "2")
        public long token(@FencingToken long token) {
            return token;
        }
    }
}
