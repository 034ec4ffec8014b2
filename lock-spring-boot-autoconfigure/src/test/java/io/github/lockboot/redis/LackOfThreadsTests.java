package io.github.lockboot.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.engine.EngineLocks;
import io.github.lockboot.engine.LockEngine;
import io.github.lockboot.engine.LockRequest;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * A process that for a while can make no thread, as at the limit of a container: nothing is left of it when there are
 * some again.
 */
class LackOfThreadsTests {

    private static final Terms TERMS = Terms.exclusive(2_000, true);
    private static final LockOptions OPTIONS = LockOptions.defaults()
            .withTtl(Duration.ofSeconds(2))
            .withWaitTime(Duration.ZERO)
            .withRenewal();

    private static RedisServer server;
    private static TestRegistries registries;

    private final Actor actor = new Actor();
    private final RedisLockRegistry other = registries.registry(UnaryOperator.identity());
    private volatile boolean lacking;
    private final RedisLockRegistry registry =
            registries.registry(builder -> builder.commandTimeout(Duration.ofSeconds(1))
                    .maxWaiters(1_000)
                    .threads(name -> task -> {
                        Thread made = new Thread(task, name) {

                            @Override
                            public synchronized void start() {
                                if (lacking) {
                                    throw new OutOfMemoryError("unable to create native thread");
                                }
                                super.start();
                            }
                        };
                        made.setDaemon(true);
                        return made;
                    }));
    private final LockEngine engine = EngineLocks.engineOf(registry);

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        registries = TestRegistries.on(server);
    }

    @AfterAll
    static void stop() {
        registries.close();
        server.close();
    }

    @AfterEach
    void close() {
        registry.close();
        actor.close();
    }

    private NamedLock lock(String name) {
        return registry.get(name, OPTIONS);
    }

    private CompletableFuture<Lease> acquire(String name, Duration wait) {
        return engine.acquireAsync(
                new LockRequest(name, null, TERMS, wait.toNanos(), 0, true, false, LockRequest.ANY_NUMBER));
    }

    /** Connecting for the first time loads classes, which on a busy machine takes longer than a command may. */
    private void connect() {
        Actor.await("the other has connected", () -> TestRegistries.canLock(other, "warm"));
        Actor.await("this one has", () -> {
            try {
                isFree("warm");
                return true;
            } catch (LockUnavailableException notYet) {
                return false;
            } catch (Exception failure) {
                throw new IllegalStateException(failure);
            }
        });
    }

    private void isFree(String name) throws Exception {
        other.acquire(name, LockOptions.defaults().withWaitTime(Duration.ofSeconds(10)))
                .close();
        actor.run(() -> {
            assertThat(lock(name).tryLock(10, TimeUnit.SECONDS)).isTrue();
            lock(name).unlock();
        });
        Actor.await("nothing is in use", () -> engine.inUse() == 0);
    }

    @Test
    void theFirstCallsFailAndTheNextWork() throws Exception {
        lacking = true;
        assertThat(catchThrowable(() -> actor.run(lock("first")::lock))).isNotNull();
        assertThat(catchThrowable(() -> actor.call(() -> lock("first").tryLock(1, TimeUnit.SECONDS))))
                .isNotNull();
        assertThat(catchThrowable(() -> Actor.get(acquire("first", Duration.ofSeconds(1)))))
                .isNotNull()
                .isNotInstanceOf(TimeoutException.class);
        lacking = false;
        isFree("first");
    }

    @Test
    void withAConnectionThreadsNeedNone() throws Exception {
        connect();
        lacking = true;
        actor.run(() -> {
            lock("need").lock();
            lock("need").unlock();
        });
    }

    @Test
    void whoWaitsIsServedAndTheChannelIsOpened() throws Exception {
        connect();
        Lease held = other.acquire("contended", LockOptions.defaults());
        lacking = true;
        CompletableFuture<Boolean> thread = actor.start(() -> lock("contended").tryLock(20, TimeUnit.SECONDS));
        Actor.await("it waits", () -> engine.inUse() > 0 && actor.isWaiting());
        CompletableFuture<Lease> future = acquire("contended", Duration.ofSeconds(20));
        lacking = false;
        held.close();
        assertThat(Actor.get(thread)).isTrue();
        Actor.await("the channel is open", () -> engine.channel().isLive());
        actor.run(lock("contended")::unlock);
        Actor.get(future).close();
        isFree("contended");
    }

    @Test
    void whoIsGrantedALockThenIsToldOnceThereAreThreads() throws Exception {
        connect();
        lacking = true;
        CompletableFuture<Lease> future = acquire("granted", Duration.ofSeconds(20));
        Actor.await("Redis has granted it", () -> engine.isLocked("granted"));
        lacking = false;
        Actor.get(future).close();
        isFree("granted");
    }

    @Test
    void whoCannotBeToldBeforeItsTimeIsOverIsToldAfterwards() throws Exception {
        connect();
        Lease held = other.acquire("late", LockOptions.defaults());
        lacking = true;
        CompletableFuture<Lease> future = acquire("late", Duration.ofMillis(100));
        Actor.pass(Duration.ofMillis(500));
        lacking = false;
        assertThat(catchThrowable(() -> Actor.get(future))).isNotNull().isNotInstanceOf(TimeoutException.class);
        held.close();
        isFree("late");
    }
}
