package io.github.lockboot.autoconfigure;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Actor;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockAssert;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.RecordingLockListener;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** A long method lets others have its lock at a checkpoint. */
class LockYieldTests {

    private static final String NOT_ALONE =
            "lock 'import' cannot be yielded: its thread must hold it once, as its newest lock, and the call must not be"
                    + " asynchronous";

    private final MemoryLockRegistry registry = new MemoryLockRegistry();
    private final RecordingLockListener listener = new RecordingLockListener();
    private final Actor other = new Actor();
    private final NamedLock lock = registry.newInstance().get("import");

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean(MemoryLockRegistry.class, () -> registry)
            .withBean(Imports.class);

    @BeforeEach
    void listen() {
        registry.addListener(listener);
    }

    @AfterEach
    void leave() {
        other.close();
    }

    private interface ImportsTest {

        void accept(Imports imports) throws Exception;
    }

    private void run(ImportsTest test) {
        runner.run(context -> {
            test.accept(context.getBean(Imports.class));
            assertThat(LockContext.find()).isEmpty();
            assertThat(registry.get("import").isLocked()).isFalse();
        });
    }

    /** Another instance waits. {@return completes with its token when it has had the lock} */
    private CompletableFuture<Long> nextHolder() {
        CompletableFuture<Long> next = other.start(() -> {
            lock.lock();
            try {
                return lock.fencingToken();
            } finally {
                lock.unlock();
            }
        });
        Actor.await("it waits", other::isWaiting);
        return next;
    }

    @Test
    void whileNobodyWaitsTheMethodGoesOnUnderItsLock() {
        run(imports -> imports.run(token -> {
            assertThat(LockContext.current().yieldIfOthersWait()).isFalse();
            assertThat(LockContext.current().fencingToken()).isEqualTo(token);
        }));
        assertThat(listener.told).hasSize(3);
    }

    @Test
    void ifAnotherInstanceWaitsItIsServedAndTheMethodGoesOnWithANewToken() {
        run(imports -> imports.run(token -> {
            CompletableFuture<Long> next = nextHolder();
            Actor.await("it yields", () -> LockContext.current().yieldIfOthersWait());
            LockAssert.assertLocked("import");
            assertThat(Actor.get(next))
                    .isBetween(token + 1, LockContext.current().fencingToken() - 1);
        }));
        assertThat(listener.told)
                .filteredOn(each -> each.startsWith("released"))
                .hasSize(2);
    }

    @Test
    void aMethodThatDoesNotGetItsLockBackEndsWithThatException() {
        run(imports -> {
            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> imports.runBriefly(token -> {
                        other.begin(lock::lock);
                        Actor.await("it waits", other::isWaiting);
                        Actor.await("it yields", () -> LockContext.current().yieldIfOthersWait());
                    }))
                    .satisfies(refused -> assertThat(refused.getSuppressed()).isEmpty());
            other.run(lock::unlock);
        });
    }

    @Test
    void aTransactionUnderTheLockIsNotSplit() {
        TransactionTemplate transaction = new TransactionTemplate(new NoTransactions());
        run(imports -> imports.run(token -> {
            CompletableFuture<Long> next = nextHolder();
            assertThatIllegalStateException()
                    .isThrownBy(() ->
                            transaction.execute(status -> LockContext.current().yieldIfOthersWait()))
                    .withMessage(
                            "lock 'import' cannot be yielded: a transaction is active, whose changes others would not see;"
                                    + " yield after its end");
            assertThat(next).isNotDone();
            Actor.await("it yields", () -> LockContext.current().yieldIfOthersWait());
        }));
    }

    @Test
    void aTransactionAroundTheLockIsNotSplit() {
        TransactionTemplate transaction = new TransactionTemplate(new NoTransactions());
        run(imports -> assertThatIllegalStateException()
                .isThrownBy(() -> transaction.executeWithoutResult(status -> imports.yieldAtOnce()))
                .withMessageContaining("a transaction is active"));
    }

    @Test
    void aLockThatIsKeptIsNotYielded() {
        runner.run(context -> assertThatIllegalStateException()
                .isThrownBy(() -> context.getBean(Imports.class).keep())
                .withMessage("lock 'kept' cannot be yielded: it is kept after the method, by keepFor or atLeastFor"));
    }

    @Test
    void aMethodThatDoesNotWaitWouldNotComeBack() {
        run(imports -> assertThatIllegalStateException()
                .isThrownBy(imports::runAtOnce)
                .withMessage(
                        "lock 'import' cannot be yielded: its waitTime is zero, so the call would not get it back"));
    }

    @Test
    void aLockThatTheCallerHoldsTooIsNotYielded() {
        run(imports -> imports.run(outer -> assertThatIllegalStateException()
                .isThrownBy(() -> imports.yieldAtOnce())
                .withMessage(NOT_ALONE)));
    }

    @Test
    void theLockOfAnAsynchronousMethodIsNotYielded() {
        run(imports -> assertThatExceptionOfType(Exception.class)
                .isThrownBy(() -> Actor.get(imports.start()))
                .withMessage(NOT_ALONE));
    }

    interface Body {

        void run(long token) throws Exception;
    }

    static class Imports {

        @DistributedLock(name = "import", waitTime = "1m")
        void run(Body body) throws Exception {
            body.run(LockContext.current().fencingToken());
        }

        @DistributedLock(name = "import", waitTime = "100ms")
        void runBriefly(Body body) throws Exception {
            body.run(LockContext.current().fencingToken());
        }

        @DistributedLock(name = "import", waitTime = "0s")
        void runAtOnce() {
            LockContext.current().yieldIfOthersWait();
        }

        @DistributedLock(name = "import", waitTime = "1m")
        boolean yieldAtOnce() {
            return LockContext.current().yieldIfOthersWait();
        }

        @DistributedLock(name = "kept", waitTime = "1m", keepFor = "1s")
        void keep() {
            LockContext.current().yieldIfOthersWait();
        }

        @DistributedLock(name = "import", waitTime = "1m")
        CompletableFuture<Boolean> start() {
            return CompletableFuture.completedFuture(LockContext.current().yieldIfOthersWait());
        }
    }

    /** Transactions of nothing. */
    private static final class NoTransactions extends AbstractPlatformTransactionManager {

        private static final long serialVersionUID = 1L;

        @Override
        protected Object doGetTransaction() {
            return List.of();
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {}

        @Override
        protected void doCommit(DefaultTransactionStatus status) {}

        @Override
        protected void doRollback(DefaultTransactionStatus status) {}
    }
}
