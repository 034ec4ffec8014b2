package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.Actor;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.Mode;
import io.github.lockboot.DistributedLock.Renewal;
import io.github.lockboot.Lease;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockUse;
import io.github.lockboot.RecordingLockListener;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * A call with several locks: when its body begins it holds all of them, also if one was lost while another was waited
 * for.
 */
class LockSeveralTests {

    private final MemoryLockRegistry registry = new MemoryLockRegistry();
    private final AtomicInteger losses = new AtomicInteger();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean(MemoryLockRegistry.class, () -> registry)
            .withBean(Work.class);

    enum Kind {
        BLOCKING {
            @Override
            String call(Work work) {
                return work.blocking();
            }

            @Override
            String callOnce(Work work) {
                return work.blockingOnce();
            }
        },
        ELEMENTS {
            @Override
            String call(Work work) {
                return work.elements(List.of("b", "a"));
            }

            @Override
            String callOnce(Work work) {
                return work.elementsOnce(List.of("b", "a"));
            }
        },
        ASYNC {
            @Override
            String call(Work work) throws Exception {
                return Actor.get(work.async());
            }

            @Override
            String callOnce(Work work) throws Exception {
                return Actor.get(work.asyncOnce());
            }
        },
        MONO {
            @Override
            String call(Work work) throws Exception {
                return Actor.get(work.mono().toFuture());
            }

            @Override
            String callOnce(Work work) throws Exception {
                return Actor.get(work.monoOnce().toFuture());
            }
        },
        FLUX {
            @Override
            String call(Work work) throws Exception {
                return Actor.get(work.flux().single().toFuture());
            }

            @Override
            String callOnce(Work work) throws Exception {
                return Actor.get(work.fluxOnce().single().toFuture());
            }
        };

        abstract String call(Work work) throws Exception;

        abstract String callOnce(Work work) throws Exception;
    }

    private interface WorkTest {
        void accept(Work work) throws Exception;
    }

    private void run(WorkTest test) {
        runner.run(context -> test.accept(context.getBean(Work.class)));
    }

    /** As often as that the first lock is lost just when the call has both. */
    private void loseTheFirstOnceBothAreAcquired(int times) {
        Set<String> acquired = new HashSet<>();
        registry.addListener(new LockListener() {
            @Override
            public synchronized void acquired(LockUse use, Origin origin, Duration waited) {
                acquired.add(use.name());
                if (acquired.size() == 2 && losses.getAndIncrement() < times) {
                    acquired.clear();
                    registry.expire("a");
                }
            }
        });
    }

    private void assertNoneIsHeld() {
        assertThat(registry.get("a").isLocked()).isFalse();
        assertThat(registry.get("b").isLocked()).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void theBodyBeginsWithAllOfThemAlsoIfOneWasLostOnTheWay(Kind kind) {
        loseTheFirstOnceBothAreAcquired(2);
        run(work -> assertThat(kind.call(work)).isEqualTo("a true, b true"));
        assertThat(losses).hasValue(3);
        assertNoneIsHeld();
    }

    @ParameterizedTest
    @EnumSource
    void withoutTimeToTakeThemAnewTheBodyDoesNotRun(Kind kind) {
        loseTheFirstOnceBothAreAcquired(1);
        run(work -> {
            assertThatExceptionOfType(LockLostException.class)
                    .isThrownBy(() -> kind.callOnce(work))
                    .withMessageContaining("lock 'a'")
                    .withMessageContaining(
                            "detected before all locks of the call were held; the method has not run; see https://");
            assertThat(work.runs()).hasValue(0);
        });
        assertNoneIsHeld();
    }

    private RecordingLockListener listener() {
        RecordingLockListener listener = new RecordingLockListener();
        registry.addListener(listener);
        return listener;
    }

    /** The lock is taken before its caller has claimed it: what is stolen by then is no loss. */
    private static void awaitThatItHasTheFirst(RecordingLockListener listener) {
        listener.await("acquired a ASKED");
        listener.await("requested b");
    }

    @ParameterizedTest
    @EnumSource
    void whoTookTheLostOneMeanwhileIsWaitedFor(Kind kind) {
        MemoryLockRegistry elsewhere = registry.newInstance();
        Lease second = elsewhere.steal("b");
        RecordingLockListener listener = listener();
        run(work -> {
            try (Actor caller = new Actor()) {
                CompletableFuture<String> result = caller.start(() -> kind.call(work));
                awaitThatItHasTheFirst(listener);
                Actor.await("the first has run out", () -> !registry.get("a").isLocked());
                Lease first = elsewhere.steal("a");
                second.close();
                Actor.await("it waits for the first", () -> !registry.get("b").isLocked());
                assertThat(work.runs()).hasValue(0);
                first.close();
                assertThat(Actor.get(result)).isEqualTo("a true, b true");
            }
        });
        assertNoneIsHeld();
    }

    @Test
    void theTimeOfAllAttemptsIsTheWaitTime() {
        MemoryLockRegistry elsewhere = registry.newInstance();
        Lease second = elsewhere.steal("b");
        RecordingLockListener listener = listener();
        run(work -> {
            try (Actor caller = new Actor()) {
                CompletableFuture<String> result = caller.start(work::briefly);
                awaitThatItHasTheFirst(listener);
                Lease first = elsewhere.steal("a");
                second.close();
                Actor.await(
                        "it asks for the first again",
                        () -> listener.told.stream()
                                        .filter("requested a"::equals)
                                        .count()
                                == 2);
                Actor.await("it waits for it", caller::isWaiting);
                assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> Actor.get(result));
                first.close();
            }
        });
        assertNoneIsHeld();
    }

    @Test
    void locksOfDifferentModesAndPermitsAreTakenTogether() {
        run(work -> assertThat(work.mixed("b", "c", "a", "d")).isEqualTo("a true, b true"));
        assertNoneIsHeld();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            a | a | c | d | mode = SHARED and with mode = EXCLUSIVE
            b | a | a | d | mode = EXCLUSIVE and with permits = 3
            a | b | a | d | mode = SHARED and with permits = 3
            b | c | a | a | permits = 3 and with permits = 4
            """)
    void aCallThatNeedsOneLockInTwoWaysIsRefused(
            String shared, String exclusive, String three, String four, String ways) {
        run(work -> {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> work.mixed(shared, exclusive, three, four))
                    .withMessage(
                            Work.class.getName() + ".mixed(String, String, String, String) needs lock 'a' with " + ways
                                    + ", which one call cannot hold: use another key or a condition for one of the annotations");
            assertThat(work.runs()).hasValue(0);
        });
        assertNoneIsHeld();
    }

    static class Work {

        private final AtomicInteger runs = new AtomicInteger();

        AtomicInteger runs() {
            return runs;
        }

        private String run() {
            runs.incrementAndGet();
            return "a " + LockContext.current("a").isValid() + ", b "
                    + LockContext.current("b").isValid();
        }

        @DistributedLock(key = "#shared", mode = Mode.SHARED)
        @DistributedLock(key = "#exclusive")
        @DistributedLock(key = "#three", permits = "3")
        @DistributedLock(key = "#four", permits = "4")
        String mixed(String shared, String exclusive, String three, String four) {
            return run();
        }

        @DistributedLock(name = "b", waitTime = "1m")
        @DistributedLock(name = "a", waitTime = "1m", ttl = "1s", renew = Renewal.OFF)
        String blocking() {
            return run();
        }

        @DistributedLock(name = "b", waitTime = "5s")
        @DistributedLock(name = "a", waitTime = "5s")
        String briefly() {
            return run();
        }

        @DistributedLock(name = "b", waitTime = "0")
        @DistributedLock(name = "a", waitTime = "0")
        String blockingOnce() {
            return run();
        }

        @DistributedLock(key = "#names", perElement = true, waitTime = "1m", ttl = "1s", renew = Renewal.OFF)
        String elements(List<String> names) {
            return run();
        }

        @DistributedLock(key = "#names", perElement = true, waitTime = "0")
        String elementsOnce(List<String> names) {
            return run();
        }

        @DistributedLock(name = "b", waitTime = "1m")
        @DistributedLock(name = "a", waitTime = "1m", ttl = "1s", renew = Renewal.OFF)
        CompletableFuture<String> async() {
            return CompletableFuture.completedFuture(run());
        }

        @DistributedLock(name = "b", waitTime = "0")
        @DistributedLock(name = "a", waitTime = "0")
        CompletableFuture<String> asyncOnce() {
            return CompletableFuture.completedFuture(run());
        }

        @DistributedLock(name = "b", waitTime = "1m")
        @DistributedLock(name = "a", waitTime = "1m", ttl = "1s", renew = Renewal.OFF)
        Mono<String> mono() {
            return Mono.just(run());
        }

        @DistributedLock(name = "b", waitTime = "0")
        @DistributedLock(name = "a", waitTime = "0")
        Mono<String> monoOnce() {
            return Mono.just(run());
        }

        @DistributedLock(name = "b", waitTime = "1m")
        @DistributedLock(name = "a", waitTime = "1m", ttl = "1s", renew = Renewal.OFF)
        Flux<String> flux() {
            return Flux.just(run());
        }

        @DistributedLock(name = "b", waitTime = "0")
        @DistributedLock(name = "a", waitTime = "0")
        Flux<String> fluxOnce() {
            return Flux.just(run());
        }
    }
}
