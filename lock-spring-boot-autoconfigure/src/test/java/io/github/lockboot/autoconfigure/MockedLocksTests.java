package io.github.lockboot.autoconfigure;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockAssert;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.RecordingLockRegistry;
import io.github.lockboot.internal.Troubleshooting;
import io.github.lockboot.leader.LeaderElection;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/** What methods with locks say in tests that mock the locks, and where locks are off. */
class MockedLocksTests {

    private static final String NO_LOCK = "LockRegistry returned no lock, as an unstubbed mock does:"
            + " set lock.type=memory in the test, or stub the mock; see "
            + Troubleshooting.PAGE + "it-compiles-and-does-not-lock";
    private static final String NO_REGISTRY = "LockTemplate returned no LockRegistry, as an unstubbed mock does:"
            + " set lock.type=memory in the test, or stub the mock; see "
            + Troubleshooting.PAGE + "it-compiles-and-does-not-lock";

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    PropertyPlaceholderAutoConfiguration.class,
                    DisabledLockAutoConfiguration.class,
                    LockAutoConfiguration.class))
            .withBean(Orders.class);

    private static void assertSays(String message, ThrowingCallable call) {
        assertThatIllegalStateException().isThrownBy(call).withMessage(message);
    }

    @Test
    void aMockedRegistryIsNamedByEachCall() {
        runner.withBean(LockRegistry.class, () -> mock(LockRegistry.class)).run(context -> {
            assertThat(context).hasNotFailed();
            assertEachNames(NO_LOCK, context);
            LockTemplate template = context.getBean(LockTemplate.class);
            assertSays(NO_LOCK, () -> template.executeWithoutResult("order", () -> {}));
            assertSays(NO_LOCK, () -> template.executeAsync("order", () -> CompletableFuture.completedFuture(1)));
            assertSays(NO_LOCK, () -> template.singleFlight("order", () -> null, () -> 1));
            assertThatThrownBy(() -> template.singleFlightAsync(
                                    "order",
                                    () -> CompletableFuture.completedFuture(null),
                                    () -> CompletableFuture.completedFuture(1))
                            .join())
                    .isInstanceOf(CompletionException.class)
                    .hasRootCauseMessage(NO_LOCK);
        });
    }

    @Test
    void aMockOfARegistryOfOursIsNamedByEachCall() {
        runner.withBean(MemoryLockRegistry.class, () -> mock(MemoryLockRegistry.class))
                .run(context -> assertEachNames(NO_LOCK, context));
    }

    @Test
    void aMockedTemplateIsNamedByEachCall() {
        runner.withBean(LockRegistry.class, RecordingLockRegistry::new)
                .withBean(LockTemplate.class, () -> mock(LockTemplate.class))
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertEachNames(NO_REGISTRY, context);
                });
    }

    private static void assertEachNames(String message, AssertableApplicationContext context) {
        Orders orders = context.getBean(Orders.class);
        assertSays(message, () -> orders.take("o1"));
        assertSays(message, () -> orders.transfer("o1", "o2"));
        assertSays(message, orders::kept);
        assertThatThrownBy(orders.later()::join)
                .isInstanceOf(CompletionException.class)
                .hasRootCauseMessage(message);
    }

    @Test
    void aMockThatIsToldWhatToReturnIsUsed() {
        RecordingLockRegistry recorded = new RecordingLockRegistry();
        runner.withBean(LockRegistry.class, () -> {
                    LockRegistry told = mock(LockRegistry.class);
                    when(told.get(anyString(), any())).thenAnswer(call -> recorded.get(call.getArgument(0)));
                    return told;
                })
                .run(context -> context.getBean(Orders.class).take("o1"));
        assertThat(recorded.events()).containsExactly("lock o1", "unlock o1");
    }

    @Test
    void anElectionByAMockIsNamed() {
        assertSays(NO_LOCK, () -> LeaderElection.of(mock(LockRegistry.class), "reports"));
    }

    /** Whoever switched locks off must not look for a call within a bean. */
    @Test
    void whereLocksAreOffTheAssertionSaysSo() {
        runner.withPropertyValues("lock.enabled=false").run(context -> {
            Consumer<ThrowingCallable> assertSaid = call -> assertThatIllegalStateException()
                    .isThrownBy(call)
                    .withMessage("no @DistributedLock method runs on thread "
                            + Thread.currentThread().getName()
                            + ": the call bypassed the proxy, as a call within the same bean does, or locking is disabled"
                            + " (lock.enabled=false)");
            Orders orders = context.getBean(Orders.class);
            assertSaid.accept(orders::assertLocked);
            assertSaid.accept(orders::assertLockedByName);
            assertSaid.accept(orders::ask);
        });
    }

    static class Orders {

        @DistributedLock(key = "#id")
        public void take(String id) {}

        @DistributedLock(key = "#from")
        @DistributedLock(key = "#to")
        public void transfer(String from, String to) {}

        @DistributedLock(name = "kept", keepFor = "1m")
        public void kept() {}

        @DistributedLock(name = "later")
        public CompletableFuture<String> later() {
            return CompletableFuture.completedFuture("done");
        }

        @DistributedLock(name = "order")
        public void assertLocked() {
            LockAssert.assertLocked();
        }

        @DistributedLock(name = "order")
        public void assertLockedByName() {
            LockAssert.assertLocked("order");
        }

        @DistributedLock(name = "order")
        public void ask() {
            LockContext.current();
        }
    }
}
