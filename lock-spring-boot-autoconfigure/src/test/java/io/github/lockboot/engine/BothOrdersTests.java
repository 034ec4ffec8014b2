package io.github.lockboot.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.Actor;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.LockUse;
import io.github.lockboot.LogReader;
import io.github.lockboot.NamedLock;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Two locks that are acquired in opposite orders are reported once, with both places. Each test has groups of its own:
 * there is one graph.
 */
class BothOrdersTests {

    private static final String WARNING = "Possible deadlock: locks are acquired in opposite orders";

    private final MemoryLockRegistry registry = new MemoryLockRegistry();
    private final LogReader log = new LogReader();
    private final AtomicInteger told = new AtomicInteger();
    private final Actor other = new Actor();

    BothOrdersTests() {
        registry.addListener(new LockListener() {
            @Override
            public void takenInBothOrders(LockUse use) {
                told.incrementAndGet();
            }
        });
    }

    @AfterEach
    void close() {
        other.close();
        log.close();
        registry.close();
    }

    private NamedLock lock(String group, String name) {
        return registry.get(name, LockOptions.defaults().withGroup(group));
    }

    private static void nested(NamedLock first, NamedLock second) {
        first.lock();
        try {
            second.lock();
            second.unlock();
        } finally {
            first.unlock();
        }
    }

    private List<String> warnings() {
        return log.warnings().stream().filter(line -> line.startsWith(WARNING)).toList();
    }

    private void awaitOneWarning() {
        Actor.await("it is reported", () -> told.get() == 1 && warnings().size() == 1);
    }

    @Test
    void twoGroupsInBothOrdersAreReportedOnceWithBothPlaces() throws Exception {
        for (int i = 0; i < 3; i++) {
            nested(lock("stock", "s" + i), lock("order", "o" + i));
        }
        assertThat(warnings()).isEmpty();
        for (int i = 0; i < 3; i++) {
            int which = i;
            other.run(() -> nested(lock("order", "o" + which), lock("stock", "s")));
        }
        awaitOneWarning();
        assertThat(warnings())
                .singleElement()
                .asString()
                .startsWith(WARNING + ": stock (name digest ")
                .containsPattern("\\) while order \\(name digest [0-9a-f]+\\) is held at ")
                .containsPattern(
                        "held at [^ ]*BothOrdersTests.nested\\(BothOrdersTests.java:\\d+\\), and the other way round at [^ ]*BothOrdersTests.nested");
    }

    @Test
    void namesOfOneGroupInBothOrdersAreReported() {
        nested(lock("account", "1"), lock("account", "2"));
        nested(lock("account", "3"), lock("account", "7"));
        assertThat(warnings()).isEmpty();
        nested(lock("account", "9"), lock("account", "4"));
        awaitOneWarning();
    }

    @Test
    void aLockWithoutAGroupCountsByItsNameWhichIsNotShown() {
        nested(registry.get("a customer"), registry.get("another"));
        nested(registry.get("another"), registry.get("a customer"));
        awaitOneWarning();
        assertThat(warnings().toString()).contains("name digest").doesNotContain("customer");
    }

    /** The two threads never have one of the two at the same time. */
    @Test
    void bothOrdersUnderOneFurtherLockAreNoConflict() {
        NamedLock gate = lock("gate", "of all");
        gate.lock();
        nested(lock("left", "l"), lock("right", "r"));
        nested(lock("right", "r"), lock("left", "l"));
        gate.unlock();
        assertThat(warnings()).isEmpty();
        nested(lock("left", "l"), lock("right", "r"));
        nested(lock("right", "r"), lock("left", "l"));
        awaitOneWarning();
    }

    /** As several locks of one call are taken: sorted by name, whatever their groups. */
    @Test
    void oneOrderOfAllNamesIsNoConflictWhateverTheGroups() {
        nested(lock("red", "1"), lock("blue", "2"));
        nested(lock("blue", "3"), lock("red", "4"));
        assertThat(warnings()).isEmpty();
        nested(lock("blue", "9"), lock("red", "5"));
        awaitOneWarning();
    }

    @Test
    void severalThatAreTakenTogetherHaveOneOrder() throws Exception {
        NamedLock last = registry.get("together c");
        other.run(last::lock);
        for (List<String> names : List.of(List.of("together a", "together c"), List.of("together c", "together a"))) {
            assertThat(registry.allOf(names).tryLock(20, TimeUnit.MILLISECONDS)).isFalse();
        }
        other.run(last::unlock);
        assertThat(warnings()).isEmpty();
    }

    @Test
    void whatWaitsForNothingOrIsHeldAlreadyIsNoOrder() throws Exception {
        NamedLock one = lock("one", "1");
        NamedLock two = lock("two", "2");
        for (List<NamedLock> order : List.of(List.of(one, two), List.of(two, one))) {
            order.get(0).lock();
            assertThat(order.get(1).tryLock()).isTrue();
            order.get(1).unlock();
            order.get(0).unlock();
        }
        NamedLock again = lock("one", "1");
        nested(one, again);
        assertThat(one.tryLock(1, TimeUnit.SECONDS)).isTrue();
        one.unlock();
        assertThat(warnings()).isEmpty();
    }

    @Test
    void aWaitThatEndsNamesTheLockThatTheThreadHeldMeanwhile() throws Exception {
        NamedLock wanted = registry.get("wanted");
        other.run(wanted::lock);
        LockTemplate template = new LockTemplate(registry, Duration.ofMillis(50));
        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(() -> template.execute("wanted", () -> "done"))
                .withMessageNotContaining("meanwhile");
        registry.get("held").lock();
        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(() -> template.execute("wanted", () -> "done"))
                .withMessageContaining("could not acquire lock 'wanted'")
                .withMessageContaining("this thread held lock 'held' meanwhile");
        registry.get("held").unlock();
        other.run(wanted::unlock);
    }
}
