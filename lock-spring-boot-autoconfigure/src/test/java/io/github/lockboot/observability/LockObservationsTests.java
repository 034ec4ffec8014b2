package io.github.lockboot.observability;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.memory.MemoryLockRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LockObservationsTests {

    private static final LockOptions ORDERS =
            LockOptions.defaults().withGroup("order").withWaitTime(Duration.ZERO);

    private final TestObservationRegistry observations = TestObservationRegistry.create();
    private final MemoryLockRegistry locks = new MemoryLockRegistry();
    private final LockTemplate template = new LockTemplate(locks, Duration.ofSeconds(10));

    @BeforeEach
    void listen() {
        locks.addListener(new LockObservations(observations));
    }

    private TestObservationRegistryAssert observed() {
        return TestObservationRegistryAssert.assertThat(observations);
    }

    @Test
    void aLockedActionIsObservedAsAWholeAsAWaitAndAsAHold() {
        Observation request = Observation.start("request", observations);
        request.scoped(() -> template.execute("order:1", ORDERS, () -> 1));
        request.stop();
        observed()
                .hasNumberOfObservationsEqualTo(4)
                .hasObservationWithNameEqualTo("lock.execution")
                .that()
                .hasContextualNameEqualTo("lock order")
                .hasParentObservationContextSatisfying(
                        parent -> assertThat(parent.getName()).isEqualTo("request"))
                .hasOnlyKeys("lock.group", "lock.outcome", "error.type")
                .hasLowCardinalityKeyValue("lock.group", "order")
                .hasLowCardinalityKeyValue("lock.outcome", "released")
                .hasLowCardinalityKeyValue("error.type", "none")
                .hasBeenStopped();
        observed()
                .hasObservationWithNameEqualTo("lock.execution.wait")
                .that()
                .hasParentObservationContextSatisfying(
                        parent -> assertThat(parent.getName()).isEqualTo("lock.execution"))
                .hasOnlyKeys("lock.group", "lock.outcome", "error.type", "lock.origin")
                .hasLowCardinalityKeyValue("lock.outcome", "acquired")
                .hasLowCardinalityKeyValue("lock.origin", "asked")
                .hasBeenStopped();
        observed()
                .hasObservationWithNameEqualTo("lock.execution.hold")
                .that()
                .hasParentObservationContextSatisfying(
                        parent -> assertThat(parent.getName()).isEqualTo("lock.execution"))
                .hasOnlyKeys("lock.group", "lock.outcome", "error.type")
                .hasLowCardinalityKeyValue("lock.outcome", "released")
                .hasLowCardinalityKeyValue("error.type", "none")
                .hasBeenStopped();
    }

    @Test
    void whatTheBodyObservesIsAChildOfTheHoldAndNothingElseIs() {
        template.execute("order:1", ORDERS, () -> observe("inside"));
        template.executeAsync("order:2", ORDERS, () -> {
                    observe("inside.async");
                    return CompletableFuture.completedFuture(1);
                })
                .join();
        observe("outside");
        for (String name : List.of("inside", "inside.async")) {
            observed()
                    .hasObservationWithNameEqualTo(name)
                    .that()
                    .hasParentObservationContextSatisfying(
                            parent -> assertThat(parent.getName()).isEqualTo("lock.execution.hold"));
        }
        observed().hasObservationWithNameEqualTo("outside").that().doesNotHaveParentObservation();
        assertThat(observations.getCurrentObservationScope()).isNull();
    }

    private boolean observe(String name) {
        Observation.start(name, observations).stop();
        return true;
    }

    @Test
    void aWaitInVainHasNoHold() throws Exception {
        Lease held = locks.newInstance().acquire("order:1", ORDERS);
        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(() -> template.execute("order:1", ORDERS, () -> 1));
        held.close();
        observed().hasNumberOfObservationsEqualTo(2);
        for (String name : List.of("lock.execution", "lock.execution.wait")) {
            observed()
                    .hasObservationWithNameEqualTo(name)
                    .that()
                    .hasLowCardinalityKeyValue("lock.outcome", "not_acquired")
                    .hasLowCardinalityKeyValue("error.type", "not_acquired")
                    .hasBeenStopped();
        }
    }

    @Test
    void aLossEndsTheHoldAsLost() throws Exception {
        locks.acquire("order:1", ORDERS);
        locks.expire("order:1");
        Actor.await("it is told", () -> {
            List<Observation.Context> ended = new ArrayList<>();
            observed().hasHandledContextsThatSatisfy(ended::addAll);
            return ended.stream()
                    .anyMatch(context -> context.getLowCardinalityKeyValue("lock.outcome") != null
                            && context.getLowCardinalityKeyValue("lock.outcome")
                                    .getValue()
                                    .equals("lost"));
        });
    }

    @Test
    void noKeyValueHoldsAKeyAndAllAreOfLowCardinality() {
        template.execute("customer-4711", () -> 1);
        observed()
                .hasHandledContextsThatSatisfy(contexts -> assertThat(contexts).allSatisfy(context -> {
                    assertThat(context.getHighCardinalityKeyValues()).isEmpty();
                    assertThat(context.getAllKeyValues().toString()).doesNotContain("customer");
                    assertThat(context.getContextualName()).doesNotContain("customer");
                }));
    }

    @Test
    void aRegistryThatDoesNothingIsLeftAlone() {
        MemoryLockRegistry others = new MemoryLockRegistry();
        others.addListener(new LockObservations(ObservationRegistry.NOOP));
        assertThat(new LockTemplate(others, Duration.ZERO).<Integer, RuntimeException>execute("a", () -> 1))
                .isEqualTo(1);
    }
}
