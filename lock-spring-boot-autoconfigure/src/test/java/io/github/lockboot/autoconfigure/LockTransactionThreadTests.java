package io.github.lockboot.autoconfigure;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Actor;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.memory.MemoryLockRegistry;
import io.github.lockboot.redis.TestRegistries;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionSynchronizationUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.springframework.transaction.support.TransactionSynchronization.STATUS_COMMITTED;
import static org.springframework.transaction.support.TransactionSynchronization.STATUS_ROLLED_BACK;

/**
 * A JTA transaction manager may end a transaction on a thread of its own, such as the one that looks for timeouts. Here
 * the test ends it, in the way of Spring, which logs what its synchronizations throw and goes on.
 */
class LockTransactionThreadTests {

    private static RedisServer server;
    private static TestRegistries registries;

    private final Actor manager = new Actor();
    private final String a = "a " + UUID.randomUUID();
    private final String b = "b " + UUID.randomUUID();

    enum Kind {
        MEMORY,
        REDIS
    }

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        registries = TestRegistries.on(server);
        registries.connected();
    }

    @AfterAll
    static void stop() {
        registries.close();
        server.close();
    }

    @BeforeEach
    void begin() {
        TransactionSynchronizationManager.initSynchronization();
        TransactionSynchronizationManager.setActualTransactionActive(true);
    }

    @AfterEach
    void forget() {
        TransactionSynchronizationManager.clear();
        manager.close();
    }

    private interface LedgerTest {
        void accept(Ledger ledger, LockRegistry registry) throws Exception;
    }

    private static LockRegistry registry(Kind kind) {
        return kind == Kind.MEMORY ? new MemoryLockRegistry() : registries.registry();
    }

    private void run(Kind kind, LedgerTest test) {
        run(registry(kind), test);
    }

    private void run(LockRegistry registry, LedgerTest test) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
                .withBean(LockRegistry.class, () -> registry)
                .withBean(Ledger.class)
                .run(context -> test.accept(context.getBean(Ledger.class), context.getBean(LockRegistry.class)));
    }

    private void endElsewhere(int status) throws Exception {
        List<TransactionSynchronization> all = TransactionSynchronizationManager.getSynchronizations();
        manager.run(() -> {
            if (status == STATUS_COMMITTED) {
                all.forEach(each -> each.beforeCommit(false));
            }
            TransactionSynchronizationUtils.invokeAfterCompletion(all, status);
        });
    }

    private boolean isFree(NamedLock lock) throws Exception {
        return manager.<Boolean>call(() -> {
            boolean taken = lock.tryLock();
            if (taken) {
                lock.unlock();
            }
            return taken;
        });
    }

    @ParameterizedTest
    @EnumSource
    void aLockIsReleasedWhenItsTransactionIsRolledBackOnAnotherThread(Kind kind) {
        run(kind, (ledger, registry) -> {
            NamedLock lock = registry.get(a);
            ledger.write(a);
            assertThat(lock.isHeldByCurrentThread()).isTrue();
            endElsewhere(STATUS_ROLLED_BACK);
            assertThat(lock.isHeldByCurrentThread()).isFalse();
            assertThat(isFree(lock)).isTrue();
        });
    }

    @ParameterizedTest
    @EnumSource
    void allLocksAreReleasedWhenTheirTransactionIsCommittedOnAnotherThread(Kind kind) {
        run(kind, (ledger, registry) -> {
            ledger.write(a, b);
            endElsewhere(STATUS_COMMITTED);
            assertThat(isFree(registry.get(a))).isTrue();
            assertThat(isFree(registry.get(b))).isTrue();
        });
    }

    @ParameterizedTest
    @EnumSource
    void aHoldFromBeforeTheTransactionStaysWithItsThread(Kind kind) {
        run(kind, (ledger, registry) -> {
            NamedLock lock = registry.get(a);
            lock.lock();
            ledger.write(a);
            ledger.write(a);
            assertThat(lock.getHoldCount()).isEqualTo(3);
            endElsewhere(STATUS_ROLLED_BACK);
            assertThat(lock.getHoldCount()).isEqualTo(1);
            assertThat(isFree(lock)).isFalse();
            lock.unlock();
            assertThat(isFree(lock)).isTrue();
        });
    }

    @ParameterizedTest
    @EnumSource
    void ifOneLockCannotBeGivenToTheTransactionTheOthersEndWithTheirThreadAllTheSame(Kind kind) {
        LockRegistry shared = registry(kind);
        NamedLock first = shared.get(a);
        NamedLock other = shared.get(b, LockOptions.defaults().withTtl(Duration.ofSeconds(3)));
        run(new NoLeaseOf(a, shared), (ledger, registry) -> {
            Actor dies = new Actor();
            dies.run(() -> {
                other.lock();
                begin();
                assertThatIllegalStateException()
                        .isThrownBy(() -> ledger.write(a, b))
                        .withMessage("no lease of " + a);
                assertThat(TransactionSynchronizationManager.getSynchronizations())
                        .isEmpty();
                TransactionSynchronizationManager.clear();
                assertThat(other.getHoldCount()).isEqualTo(1);
            });
            assertThat(isFree(first)).isTrue();
            assertThat(isFree(other)).isFalse();
            dies.close();
            Actor.await("the lease of a thread that is gone runs out", () -> !other.isLocked());
        });
    }

    @ParameterizedTest
    @EnumSource
    void aLockIsReleasedOnceHoweverOftenTheEndIsTold(Kind kind) {
        run(kind, (ledger, registry) -> {
            NamedLock lock = registry.get(a);
            lock.lock();
            ledger.write(a);
            endElsewhere(STATUS_ROLLED_BACK);
            endElsewhere(STATUS_ROLLED_BACK);
            assertThat(lock.getHoldCount()).isEqualTo(1);
            lock.unlock();
        });
    }

    @ParameterizedTest
    @EnumSource
    void whatItsThreadTookAnewAfterALossIsNotReleasedWithTheTransaction(Kind kind) {
        run(kind, (ledger, registry) -> {
            NamedLock lock = registry.get(a);
            ledger.write(a);
            if (registry instanceof MemoryLockRegistry memory) {
                memory.expire(a);
            } else {
                server.command("DEL", "lock:" + a);
                Actor.await("it is lost", () -> !lock.isHeldByCurrentThread());
            }
            lock.lock();
            endElsewhere(STATUS_ROLLED_BACK);
            assertThat(lock.isHeldByCurrentThread()).isTrue();
            lock.unlock();
        });
    }

    /** As a lock that was lost just now. */
    private record NoLeaseOf(String name, LockRegistry registry) implements LockRegistry {

        @Override
        public NamedLock get(String name, LockOptions options) {
            NamedLock lock = registry.get(name, options);
            return !name.equals(this.name)
                    ? lock
                    : (NamedLock) Proxy.newProxyInstance(
                            getClass().getClassLoader(), new Class<?>[] {NamedLock.class}, (proxy, method, args) -> {
                                if (method.getName().equals("asLease")) {
                                    throw new IllegalStateException("no lease of " + name);
                                }
                                return method.invoke(lock, args);
                            });
        }

        @Override
        public CompletableFuture<Lease> acquireAsync(String name, LockOptions options) {
            return registry.acquireAsync(name, options);
        }
    }

    static class Ledger {

        @DistributedLock(key = "#names", perElement = true, ttl = "3s")
        public void write(String... names) {
            assertThat(TransactionSynchronizationManager.isActualTransactionActive())
                    .isTrue();
        }
    }
}
