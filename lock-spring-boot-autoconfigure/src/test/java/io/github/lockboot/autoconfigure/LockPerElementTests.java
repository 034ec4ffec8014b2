package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.RecordingLockRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** One lock for each element of a key. */
class LockPerElementTests {

    private final RecordingLockRegistry registry = new RecordingLockRegistry();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean(RecordingLockRegistry.class, () -> registry)
            .withBean(Stock.class);

    @Test
    void everyElementIsLockedInOneOrderAndReleasedInReverse() {
        run(stock -> stock.reserve(List.of("c", "a", "b")));
        assertThat(registry.events())
                .containsExactly(
                        "lock stock:a",
                        "lock stock:b",
                        "lock stock:c",
                        "body",
                        "unlock stock:c",
                        "unlock stock:b",
                        "unlock stock:a");
    }

    @Test
    void anElementTwiceIsLockedOnce() {
        run(stock -> stock.reserve(List.of("b", "a", "b")));
        assertThat(registry.names()).containsExactly("stock:a", "stock:b");
    }

    @Test
    void theWaitTimeIsForAllTogether() {
        run(stock -> stock.reserve(List.of("a", "b", "c")));
        assertThat(registry.waits())
                .hasSize(3)
                .isSortedAccordingTo(Comparator.reverseOrder())
                .startsWith(RecordingLockRegistry.WAIT_TIME)
                .doesNotHaveDuplicates();
    }

    @Test
    void arraysAndSetsOfNumbersEnumConstantsAndUuidsAreElementsToo() {
        UUID id = new UUID(0, 1);
        run(stock -> {
            stock.numbers(2, 1);
            stock.any(new TreeSet<>(Set.of(TimeUnit.DAYS)));
            stock.any(new UUID[] {id});
        });
        assertThat(registry.names()).containsExactly("1", "2", "DAYS", id.toString());
    }

    @Test
    void whenOneIsTakenThoseBeforeItAreGivenBackAndTheBodyDoesNotRun() {
        registry.take("stock:c");
        run(stock -> assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(() -> stock.reserve(List.of("d", "c", "b", "a")))
                .satisfies(failure -> assertThat(failure.getLockName()).isEqualTo("stock:c")));
        assertThat(registry.events())
                .containsExactly("lock stock:a", "lock stock:b", "unlock stock:b", "unlock stock:a");
    }

    @Test
    void whenRedisFailsForOneThoseBeforeItAreGivenBack() {
        registry.cutOff("stock:b");
        run(stock -> assertThatExceptionOfType(LockUnavailableException.class)
                .isThrownBy(() -> stock.reserve(List.of("a", "b"))));
        assertThat(registry.events()).containsExactly("lock stock:a", "unlock stock:a");
    }

    @Test
    void aCollectionWithoutElementsIsRefused() {
        refused(List.of(), "gives no element: pass an element, or add a condition");
    }

    @Test
    void aNullOrEmptyElementIsRefused() {
        refused(Arrays.asList("a", null), "has an element that is null: pass a value");
        refused(List.of("a", ""), "gives empty text");
    }

    @Test
    void anElementThatIsNoKeyIsRefused() {
        refused(List.of(List.of("a")), "has an element that is a java.util.ImmutableCollections$List12");
    }

    @Test
    void whatHasNoElementsIsRefused() {
        refused("a", "gives a java.lang.String: pass a collection or an array");
        refused(null, "gives null: pass a collection or an array");
    }

    private void refused(Object keys, String message) {
        run(stock -> assertThatIllegalArgumentException()
                .isThrownBy(() -> stock.any(keys))
                .withMessageContaining("key expression \"#keys\" " + message));
        assertThat(registry.events()).isEmpty();
    }

    @Test
    void aWaitOfCenturiesIsOne() {
        runner.withBean(LockTemplate.class, () -> new LockTemplate(registry, Duration.ofDays(110_000)))
                .run(context -> context.getBean(Stock.class).reserve(List.of("a")));
        assertThat(registry.events()).containsExactly("lock stock:a", "body", "unlock stock:a");
    }

    private void run(Consumer<Stock> test) {
        runner.run(context -> test.accept(context.getBean(Stock.class)));
    }

    static class Stock {

        private final RecordingLockRegistry registry;

        Stock(RecordingLockRegistry registry) {
            this.registry = registry;
        }

        @DistributedLock(name = "stock", key = "#skus", perElement = true)
        void reserve(List<String> skus) {
            registry.record("body");
        }

        @DistributedLock(key = "#ids", perElement = true)
        void numbers(int... ids) {}

        @DistributedLock(key = "#keys", perElement = true)
        void any(Object keys) {}
    }
}
