package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.github.lockboot.Actor;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.LogReader;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LockShutdownTests {

    private static final LockOptions PATIENT = LockOptions.defaults().withWaitTime(Duration.ofMinutes(5));

    private static RedisServer server;

    private final Actor closer = new Actor();
    private final Actor waiter = new Actor();

    @BeforeAll
    static void startServer() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @AfterEach
    void clean() {
        closer.close();
        waiter.close();
        server.command("FLUSHALL");
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(LockAutoConfiguration.class)
    @Import(Work.class)
    static class Application {

        @Bean
        LettuceConnectionFactory redis() {
            return new LettuceConnectionFactory(server.host(), server.port());
        }
    }

    static class Work {

        private final CompletableFuture<String> result = new CompletableFuture<>();
        private volatile boolean began;

        public boolean hasBegun() {
            return began;
        }

        public void finish(String result) {
            this.result.complete(result);
        }

        @DistributedLock(name = "async")
        public CompletableFuture<String> async() {
            began = true;
            return result;
        }

        @DistributedLock(name = "kept", keepFor = "1s")
        public void kept() {}

        @DistributedLock(name = "long-kept", keepFor = "1h")
        public void longKept() {}
    }

    private static ConfigurableApplicationContext run(Class<?> application, String... properties) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        TestPropertyValues.of("lock.startup-check=off").and(properties).applyTo(context);
        context.register(application);
        context.refresh();
        return context;
    }

    private static long keys() {
        return (Long) server.command("DBSIZE");
    }

    private CompletableFuture<Void> close(ConfigurableApplicationContext context) {
        return closer.begin(context::close);
    }

    private static void failsAsClosing(CompletableFuture<?> future) {
        assertThatExceptionOfType(LockUnavailableException.class)
                .isThrownBy(() -> Actor.get(future))
                .withMessageContaining("the registry is closing");
    }

    private static boolean isRefused(LockRegistry locks) {
        CompletableFuture<Lease> other = locks.acquireAsync("other", PATIENT);
        other.handle((lease, failure) -> null).join();
        other.thenAccept(Lease::close);
        return other.isCompletedExceptionally();
    }

    /** One that stops first of all and blocks, as a web server does that waits for its requests. */
    static class StopsFirst implements SmartLifecycle {

        final CountDownLatch mayStop = new CountDownLatch(1);
        private volatile boolean running;

        @Override
        public void start() {
            running = true;
        }

        @Override
        public void stop() {
            try {
                mayStop.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            running = false;
        }

        @Override
        public boolean isRunning() {
            return running;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Application.class, StopsFirst.class})
    static class WithRequests {}

    @ParameterizedTest
    @EnumSource(LockProperties.Type.class)
    void waitersAreGoneBeforeAnythingElseStopsAndNobodyIsGrantedALockAnyMore(LockProperties.Type type)
            throws Exception {
        ConfigurableApplicationContext context = run(WithRequests.class, "lock.type=" + type);
        LockRegistry registry = context.getBean(LockRegistry.class);
        LockTemplate template = context.getBean(LockTemplate.class);
        Lease held = registry.acquire("a", LockOptions.defaults());
        CompletableFuture<?> thread = waiter.start(() -> template.execute("a", PATIENT, () -> "never"));
        CompletableFuture<Lease> future = registry.acquireAsync("a", PATIENT);
        Actor.await("the thread waits", waiter::isWaiting);

        CompletableFuture<Void> closed = close(context);
        failsAsClosed(thread);
        failsAsClosed(future);
        failsAsClosed(registry.acquireAsync("b", PATIENT));
        assertThat(held.isValid()).isTrue();
        held.close();
        assertThat(closed).isNotDone();
        context.getBean(StopsFirst.class).mayStop.countDown();
        Actor.get(closed);
        assertThat(keys()).isZero();
    }

    private static void failsAsClosed(CompletableFuture<?> future) {
        assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> Actor.get(future));
    }

    @Test
    void aWaiterInTheQueueOfRedisLeavesItAtOnce() throws Exception {
        ConfigurableApplicationContext holding = run(Application.class);
        ConfigurableApplicationContext waiting = run(WithRequests.class);
        try (Lease held = holding.getBean(LockRegistry.class).acquire("a", LockOptions.defaults())) {
            CompletableFuture<Lease> queued =
                    waiting.getBean(LockRegistry.class).acquireAsync("a", PATIENT);
            Actor.await("it is queued", () -> StoredLock.at(server, "lock:a").isWaitedFor());
            CompletableFuture<Void> closed = close(waiting);
            Actor.await("it has left", () -> !StoredLock.at(server, "lock:a").isWaitedFor());
            failsAsClosing(queued);
            assertThat(closed).isNotDone();
            waiting.getBean(StopsFirst.class).mayStop.countDown();
            Actor.get(closed);
            assertThat(held.isValid()).isTrue();
        }
        holding.close();
    }

    @Test
    void aHoldIsWaitedForAndReleased() throws Exception {
        ConfigurableApplicationContext context = run(Application.class);
        Work work = context.getBean(Work.class);
        CompletableFuture<String> running = work.async();
        Actor.await("it is held", work::hasBegun);
        CompletableFuture<Lease> waiting = context.getBean(LockRegistry.class).acquireAsync("async", PATIENT);
        CompletableFuture<Void> closed = close(context);
        failsAsClosing(waiting);
        assertThat(closed).isNotDone();
        assertThat(keys()).isEqualTo(1);
        work.finish("done");
        assertThat(Actor.get(running)).isEqualTo("done");
        Actor.get(closed);
        assertThat(keys()).isZero();
    }

    /** What is stopped is not stopped again when it is closed. */
    @Test
    void aHoldIsWaitedForAndReleasedAlsoIfTheContextWasStoppedBefore() throws Exception {
        ConfigurableApplicationContext context = run(WithRequests.class);
        Work work = context.getBean(Work.class);
        CompletableFuture<String> running = work.async();
        Actor.await("it is held", work::hasBegun);
        context.getBean(StopsFirst.class).mayStop.countDown();
        context.stop();
        assertThat(keys()).isEqualTo(1);
        CompletableFuture<Void> closed = close(context);
        LockRegistry locks = context.getBean(LockRegistry.class);
        Actor.await("no lock is granted any more", () -> isRefused(locks));
        Actor.pass(Duration.ofMillis(300));
        assertThat(closed).isNotDone();
        work.finish("done");
        assertThat(Actor.get(running)).isEqualTo("done");
        Actor.get(closed);
        assertThat(keys()).isZero();
    }

    @Test
    void aHoldThatDoesNotEndIsLeftToItsLeaseAfterTheGracePeriod() throws Exception {
        ConfigurableApplicationContext context = run(Application.class, "lock.shutdown-grace-period=100ms");
        Work work = context.getBean(Work.class);
        work.async();
        Actor.await("it is held", work::hasBegun);
        try (LogReader log = new LogReader()) {
            Actor.get(close(context));
            assertThat(log.messages())
                    .contains("The shutdown waits up to 100ms for locks to be released (lock.shutdown-grace-period)");
        }
        assertThat((Long) server.command("PTTL", "lock:async")).isPositive();
    }

    @Test
    void aKeptLockStaysForItsTimeAndTheShutdownDoesNotWaitForIt() throws Exception {
        ConfigurableApplicationContext context = run(Application.class, "lock.shutdown-grace-period=1m");
        context.getBean(Work.class).kept();
        context.getBean(Work.class).longKept();
        assertThat(keys()).isEqualTo(2);
        Actor.get(close(context));
        assertThat((Long) server.command("PTTL", "lock:long-kept")).isGreaterThan(3_500_000);
        Actor.await("the other is free at its time", () -> server.command("GET", "lock:kept") == null);
    }

    @Test
    void aContextThatNeverLockedClosesWithoutAConnection() {
        ConfigurableApplicationContext context = run(Application.class, "lock.redis.connect-at-startup=false");
        server.command("CONFIG", "RESETSTAT");
        context.close();
        context.close();
        assertThat(String.valueOf(server.command("INFO", "stats"))).contains("total_connections_received:1\r\n");
    }

    @Test
    void aSecondContextInTheSameProcessLocksAfterTheFirstIsClosed() {
        for (int i = 0; i < 2; i++) {
            ConfigurableApplicationContext context = run(Application.class);
            assertThat(context.getBean(LockTemplate.class).execute("a", () -> "ran"))
                    .isEqualTo("ran");
            context.close();
            context.close();
        }
        assertThat(keys()).isZero();
    }

    @Test
    void aContextThatIsStoppedAndStartedAgainKeepsItsLocks() {
        try (ConfigurableApplicationContext context = run(Application.class)) {
            LockTemplate template = context.getBean(LockTemplate.class);
            template.execute("a", () -> {
                context.stop();
                return null;
            });
            context.start();
            assertThat(template.<String, RuntimeException>execute("a", () -> "ran"))
                    .isEqualTo("ran");
        }
    }

    @Test
    void theEndOfAChildContextIsNotTheEndOfTheParents() {
        try (ConfigurableApplicationContext parent = run(Application.class)) {
            AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext();
            child.setParent(parent);
            child.refresh();
            child.close();
            assertThat(parent.getBean(LockTemplate.class).<String, RuntimeException>execute("a", () -> "ran"))
                    .isEqualTo("ran");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Application.class)
    static class WithASecondRegistry {

        @Bean(defaultCandidate = false)
        RedisLockRegistry second(RedisConnectionFactory redis) {
            return RedisLockRegistry.builder(redis).keyPrefix("second:").build();
        }
    }

    @Test
    void registriesOfTheApplicationEndInTheSameWay() throws Exception {
        ConfigurableApplicationContext context = run(WithASecondRegistry.class);
        RedisLockRegistry second = context.getBean("second", RedisLockRegistry.class);
        Lease held = second.acquire("a", LockOptions.defaults());
        CompletableFuture<Lease> waiting = second.acquireAsync("a", PATIENT);
        CompletableFuture<Void> closed = close(context);
        failsAsClosing(waiting);
        assertThat(closed).isNotDone();
        held.close();
        Actor.get(closed);
        assertThat(keys()).isZero();
    }
}
