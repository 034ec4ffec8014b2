package io.github.lockboot.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static io.github.lockboot.engine.ScheduledEngines.EXCLUSIVE;
import static io.github.lockboot.engine.ScheduledEngines.lock;
import static io.github.lockboot.engine.ScheduledEngines.request;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The real engine and real threads, of which chance decides at each step which one goes on. At most one uses the lock,
 * every thread is served or leaves, and in the end nothing is in use. A failure names its seed for
 * {@code -Dlock.schedules.seed}; a thread that is blocked may go on a little earlier or later, so that a seed does not
 * always repeat. {@code -Dlock.schedules} is the number of schedules of each scene.
 */
@Tag("not-for-mutants")
class ThreadScheduleTests {

    private static final @Nullable Long ONLY_SEED = Long.getLong("lock.schedules.seed");
    private static final int FEW = 10;
    private static final int SCHEDULES = Integer.getInteger("lock.schedules", 100);
    private static final int SCHEDULES_WITH_A_FLAW = 300;
    private static final int LINES = 60;

    /** Its first renewal is due after 5 s: a grant that has only been announced ends after 6 s. */
    private static final LockOptions SOON_RENEWED = EXCLUSIVE.withTtl(Duration.ofSeconds(15));

    private static final LockOptions NOT_RENEWED = EXCLUSIVE.withoutRenewal();
    private static final LockOptions LINGERING = EXCLUSIVE.withLinger(Duration.ofSeconds(1));

    /**
     * A task that is planned while another thread lets a second pass may run a second late, and the end of a linger
     * time is looked for once a second at the latest.
     */
    private static final Duration SETTLING = Duration.ofSeconds(5);

    private static final LockOptions READ = EXCLUSIVE.shared();
    private static final LockOptions PERMITS = EXCLUSIVE.withPermits(2);

    /** What the threads of a schedule do beside each other. */
    private enum Scene {
        THREADS_OF_ONE_JVM_PASS_THE_LOCK_ON(scene -> {
            uses(scene, scene.here, EXCLUSIVE);
            uses(scene, scene.here, EXCLUSIVE);
            uses(scene, scene.here, EXCLUSIVE);
        }),
        THE_LOCK_GOES_TO_ANOTHER_JVM(scene -> {
            uses(scene, scene.here, EXCLUSIVE);
            uses(scene, scene.there, EXCLUSIVE);
        }),
        A_HINT_ARRIVES_DURING_A_HAND_OVER(scene -> {
            uses(scene, scene.here, EXCLUSIVE);
            uses(scene, scene.here, EXCLUSIVE);
            uses(scene, scene.there, EXCLUSIVE);
        }),
        A_WAITER_GIVES_UP_WHILE_A_THREAD_PASSES_THE_LOCK_ON(scene -> {
            uses(scene, scene.here, EXCLUSIVE);
            waitsASecond(scene, scene.here);
            advances(scene, 1);
        }),
        A_WAITER_GIVES_UP_WHILE_A_GRANT_ARRIVES(scene -> {
            uses(scene, scene.here, EXCLUSIVE);
            waitsASecond(scene, scene.there);
            advances(scene, 1);
        }),
        AN_INTERRUPT_COMES_WHILE_A_THREAD_PASSES_THE_LOCK_ON(scene -> {
            uses(scene, scene.here, EXCLUSIVE);
            isInterrupted(scene, scene.here);
        }),
        AN_INTERRUPT_COMES_WHILE_A_GRANT_ARRIVES(scene -> {
            uses(scene, scene.here, EXCLUSIVE);
            isInterrupted(scene, scene.there);
        }),
        A_RELEASE_COMES_WHEN_THE_LEASE_ENDS(scene -> {
            outlivesItsLease(scene, scene.here);
            outlivesItsLease(scene, scene.there);
            advances(scene, 31);
        }),
        TWO_TRY_WHILE_A_THIRD_RELEASES(scene -> {
            uses(scene, scene.here, EXCLUSIVE);
            tries(scene, scene.here);
            tries(scene, scene.there);
        }),
        THE_REGISTRY_CLOSES_WHILE_OTHERS_ASK(scene -> {
            usesUnlessClosing(scene, scene.here);
            usesUnlessClosing(scene, scene.here);
            uses(scene, scene.there, EXCLUSIVE);
            scene.add(() -> scene.here.stopGranting().join());
        }),
        A_RENEWAL_IS_SENT_DURING_THE_RELEASE(scene -> {
            uses(scene, scene.here, SOON_RENEWED);
            uses(scene, scene.there, SOON_RENEWED);
            advances(scene, 5);
        }),
        A_POLL_IS_ANSWERED_WHEN_THE_GRANT_ARRIVES(scene -> {
            uses(scene, scene.here, EXCLUSIVE);
            uses(scene, scene.there, EXCLUSIVE);
            advances(scene, 2);
        }),
        A_FUTURE_IS_CANCELLED_WHILE_IT_COMPLETES(scene -> {
            uses(scene, scene.here, EXCLUSIVE);
            isCancelled(scene, scene.here);
            isCancelled(scene, scene.there);
        }),
        THE_LOCK_LINGERS_WHEN_OTHERS_COME(scene -> {
            uses(scene, scene.here, LINGERING);
            uses(scene, scene.here, LINGERING);
            uses(scene, scene.there, EXCLUSIVE);
            advances(scene, 1);
            scene.settlesIn(SETTLING);
        }),
        READERS_COME_BESIDE_A_WRITER(scene -> {
            uses(scene, scene.here, READ);
            uses(scene, scene.here, READ);
            uses(scene, scene.there, READ);
            uses(scene, scene.there, EXCLUSIVE);
        }),
        A_WRITER_BECOMES_A_READER(scene -> {
            NamedLock write = lock(scene.here, EXCLUSIVE);
            NamedLock read = lock(scene.here, READ);
            scene.add(() -> {
                write.lock();
                read.lock();
                write.unlock();
                scene.use(read);
            });
            uses(scene, scene.here, EXCLUSIVE);
            uses(scene, scene.there, READ);
        }),
        PERMITS_ARE_PASSED_ON(scene -> {
            uses(scene, scene.here, PERMITS);
            uses(scene, scene.here, PERMITS);
            uses(scene, scene.there, PERMITS);
        }),
        ANOTHER_THREAD_CLOSES_THE_LEASE_OF_ONE_THAT_COMES_BACK(scene -> {
            NamedLock lock = lock(scene.here, EXCLUSIVE);
            CompletableFuture<Lease> handed = new CompletableFuture<>();
            scene.add(() -> {
                lock.lock();
                handed.complete(lock.asLease());
                lock.lock();
                scene.use(lock);
            });
            scene.add(() -> handed.join().close());
            uses(scene, scene.here, EXCLUSIVE);
        });

        private final Consumer<ScheduledEngines> threads;

        Scene(Consumer<ScheduledEngines> threads) {
            this.threads = threads;
        }

        private static void uses(ScheduledEngines scene, LockEngine engine, LockOptions options) {
            NamedLock lock = lock(engine, options);
            scene.add(() -> {
                lock.lock();
                scene.use(lock);
            });
        }

        private static void usesUnlessClosing(ScheduledEngines scene, LockEngine engine) {
            NamedLock lock = lock(engine, EXCLUSIVE);
            scene.add(() -> {
                try {
                    lock.lock();
                } catch (LockUnavailableException closing) {
                    return;
                }
                scene.use(lock);
            });
        }

        private static void outlivesItsLease(ScheduledEngines scene, LockEngine engine) {
            NamedLock lock = lock(engine, NOT_RENEWED);
            scene.add(() -> {
                try {
                    if (lock.tryLock()) {
                        lock.unlock();
                    }
                } catch (LockLostException | LockUnavailableException tooLate) {
                    // its lease was over before it released the lock, or before it knew that it had it
                }
            });
        }

        private static void tries(ScheduledEngines scene, LockEngine engine) {
            NamedLock lock = lock(engine, EXCLUSIVE);
            scene.add(() -> {
                if (lock.tryLock()) {
                    scene.use(lock);
                }
            });
        }

        private static void waitsASecond(ScheduledEngines scene, LockEngine engine) {
            NamedLock lock = lock(engine, EXCLUSIVE);
            scene.add(() -> {
                if (lock.tryLock(1, TimeUnit.SECONDS)) {
                    scene.use(lock);
                }
            });
        }

        private static void isInterrupted(ScheduledEngines scene, LockEngine engine) {
            NamedLock lock = lock(engine, EXCLUSIVE);
            Thread waiter = scene.add(() -> {
                try {
                    lock.lockInterruptibly();
                } catch (InterruptedException interrupt) {
                    return;
                }
                scene.use(lock);
            });
            scene.add(waiter::interrupt);
        }

        private static void isCancelled(ScheduledEngines scene, LockEngine engine) {
            scene.add(() -> {
                CompletableFuture<Lease> future = engine.acquireAsync(request());
                future.thenAccept(lease -> {
                    scene.use();
                    lease.closeAfter(Duration.ZERO);
                });
                future.cancel(false);
            });
        }

        private static void advances(ScheduledEngines scene, int seconds) {
            scene.add(() -> scene.time.advance(Duration.ofSeconds(seconds)));
        }
    }

    @ParameterizedTest
    @EnumSource
    void atMostOneHoldsAndNothingIsLeftIn(Scene scene) {
        explore(scene, FEW);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("full")
    @Tag("schedules")
    void inManySchedulesAtMostOneHoldsAndNothingIsLeftIn(Scene scene) {
        explore(scene, SCHEDULES);
    }

    @Test
    void aThreadThatUsesTheLockWithoutHavingItIsFound() {
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> {
                    for (long seed = 0; seed < SCHEDULES_WITH_A_FLAW; seed++) {
                        ScheduledEngines engines = new ScheduledEngines(seed);
                        Scene.uses(engines, engines.here, EXCLUSIVE);
                        engines.add(engines::use);
                        engines.play();
                    }
                })
                .havingRootCause()
                .withMessage("others use the lock");
    }

    @Test
    void aLockThatIsNotReleasedIsFound() {
        ScheduledEngines engines = new ScheduledEngines(0);
        engines.add(() -> lock(engines.here, EXCLUSIVE).lock());
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(engines::play)
                .withMessageStartingWith("in use: 2, 0, in Redis: {lock:name=");
    }

    private static void explore(Scene scene, int schedules) {
        long steps = 0;
        long first = ONLY_SEED == null ? 0 : ONLY_SEED;
        long last = ONLY_SEED == null ? schedules : ONLY_SEED + 1;
        for (long seed = first; seed < last; seed++) {
            steps += play(scene, seed);
        }
        System.out.println(
                "[schedules] " + scene + ": " + (last - first) + " schedules of " + steps / (last - first) + " steps");
    }

    private static int play(Scene scene, long seed) {
        ScheduledEngines engines = new ScheduledEngines(seed);
        scene.threads.accept(engines);
        try {
            return engines.play();
        } catch (AssertionError failure) {
            String trace =
                    String.join("\n", engines.trace().stream().limit(LINES).toList());
            throw new AssertionError(scene + " with -Dlock.schedules.seed=" + seed + "\n" + trace, failure);
        }
    }
}
