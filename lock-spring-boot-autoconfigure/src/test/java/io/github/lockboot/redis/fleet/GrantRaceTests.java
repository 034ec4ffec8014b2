package io.github.lockboot.redis.fleet;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Those who give up at the very moment they are granted the lock: nobody else is forgotten for it, and nothing stays
 * held. {@code -Dlock.race.tries} says how many tries each test makes.
 */
class GrantRaceTests {

    private static final int REGISTRIES = 3;
    private static final int TRIES = Integer.getInteger("lock.race.tries", 4_000);
    private static final Duration LONG = Duration.ofSeconds(60).plusMillis(2L * TRIES);

    private final Fleet fleet = new Fleet();
    private final List<RedisLockRegistry> all = new ArrayList<>();
    private final ScheduledExecutorService aim = Executors.newScheduledThreadPool(2);
    private final AtomicInteger holders = new AtomicInteger();
    private final AtomicInteger granted = new AtomicInteger();
    private final AtomicInteger givenUp = new AtomicInteger();

    @BeforeEach
    void start() {
        for (int i = 0; i < REGISTRIES; i++) {
            all.add(fleet.registry());
        }
    }

    @AfterEach
    void stop() {
        aim.shutdownNow();
        fleet.close();
    }

    @Test
    void whoTimesOutAtTheInstantOfTheGrantLeavesNobodyWaiting() throws Exception {
        everyThreadTries(random -> {
            NamedLock lock = pick(random).get("race");
            return lock.tryLock(random.nextInt(1_500), TimeUnit.MICROSECONDS) && holdAndUnlock(lock, random);
        });
    }

    @Test
    void whoIsInterruptedAtTheInstantOfTheGrantLeavesNobodyWaiting() throws Exception {
        everyThreadTries(random -> {
            NamedLock lock = pick(random).get("race");
            Thread self = Thread.currentThread();
            aim.schedule(self::interrupt, random.nextInt(1_500), TimeUnit.MICROSECONDS);
            try {
                lock.lockInterruptibly();
            } catch (InterruptedException interrupted) {
                return false;
            }
            return holdAndUnlock(lock, random);
        });
    }

    @Test
    void aFutureThatIsCancelledAtTheInstantOfTheGrantLeavesNobodyWaiting() throws Exception {
        LockOptions patient = LockOptions.defaults().withWaitTime(LONG);
        everyThreadTries(random -> {
            CompletableFuture<Lease> future = pick(random).acquireAsync("race", patient);
            aim.schedule(() -> future.cancel(false), random.nextInt(1_500), TimeUnit.MICROSECONDS);
            try (Lease lease = future.join()) {
                return lease.fencingToken() > 0 && holdWhile(random);
            } catch (CancellationException cancelled) {
                return false;
            }
        });
    }

    @Test
    void aFutureThatTimesOutAtTheInstantOfTheGrantLeavesNobodyWaiting() throws Exception {
        everyThreadTries(random -> {
            LockOptions hasty = LockOptions.defaults().withWaitTime(Duration.ofNanos(1_000L * random.nextInt(1_500)));
            try (Lease lease = pick(random).acquireAsync("race", hasty).join()) {
                return lease.fencingToken() > 0 && holdWhile(random);
            } catch (CompletionException refused) {
                assertThat(refused).hasCauseInstanceOf(LockNotAcquiredException.class);
                return false;
            }
        });
    }

    @Test
    void twoWhoCloseOneLeaseAtOnceInventNoLoss() throws Exception {
        AtomicInteger losses = new AtomicInteger();
        Actor other = fleet.actor();
        for (int i = 0; i < 2_000; i++) {
            Lease lease = all.get(0).acquire("race", LockOptions.defaults());
            lease.onLost(losses::incrementAndGet);
            CompletableFuture<Void> closed = other.begin(lease::close);
            lease.close();
            Actor.get(closed);
        }
        assertThat(losses).hasValue(0);
        fleet.awaitNothingLeft();
    }

    private RedisLockRegistry pick(Random random) {
        return all.get(random.nextInt(all.size()));
    }

    private boolean holdAndUnlock(NamedLock lock, Random random) {
        try {
            return holdWhile(random);
        } finally {
            lock.unlock();
        }
    }

    private boolean holdWhile(Random random) {
        assertThat(holders.incrementAndGet()).isEqualTo(1);
        if (random.nextInt(3) == 0) {
            LockSupport.parkNanos(1_000L * random.nextInt(500));
        }
        holders.decrementAndGet();
        return true;
    }

    private interface Try {
        boolean once(Random random) throws Exception;
    }

    /** Hurried ones all try; one patient thread per registry, which nobody disturbs, has to be served all the while. */
    private void everyThreadTries(Try one) throws Exception {
        List<CompletableFuture<Void>> runs = new ArrayList<>();
        int hurried = 2 * REGISTRIES;
        for (int i = 0; i < hurried; i++) {
            Random random = new Random(i);
            runs.add(fleet.actor().begin(() -> {
                for (int k = 0; k < TRIES / hurried; k++) {
                    (one.once(random) ? granted : givenUp).incrementAndGet();
                    Thread.interrupted();
                }
            }));
        }
        for (RedisLockRegistry registry : all) {
            NamedLock lock = registry.get("race");
            Random random = new Random();
            runs.add(fleet.actor().begin(() -> {
                for (int k = 0; k < 300; k++) {
                    lock.lock();
                    holdAndUnlock(lock, random);
                }
            }));
        }
        for (CompletableFuture<Void> run : runs) {
            run.get(LONG.toMillis(), TimeUnit.MILLISECONDS);
        }
        assertThat(granted).hasPositiveValue();
        assertThat(givenUp).hasPositiveValue();
        assertThat(Fleet.canLock(fleet.registry(), "race"))
                .as("free at once in the end")
                .isTrue();
        fleet.awaitNothingLeft();
        Figures.report("races at the grant: %d granted, %d given up", granted.get(), givenUp.get());
    }
}
