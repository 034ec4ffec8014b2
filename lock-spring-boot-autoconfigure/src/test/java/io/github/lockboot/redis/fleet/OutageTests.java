package io.github.lockboot.redis.fleet;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Redis hangs or is gone: calls end in time, and when it is back nothing is left behind and everything works again. */
class OutageTests {

    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(1);
    private static final Duration WAIT = Duration.ofMillis(100);
    private static final Duration SLACK = Duration.ofSeconds(4); // for a busy machine
    private static final int RECOVERY_MILLIS = 10_000; // well below the ttl: nobody waited for a lease to run out

    private final Fleet fleet = new Fleet();
    private final UnaryOperator<RedisLockRegistry.Builder> settings =
            builder -> builder.commandTimeout(COMMAND_TIMEOUT);
    private final RedisLockRegistry registry = fleet.registry(settings);

    @AfterEach
    void stop() {
        if (fleet.server().isAlive()) {
            fleet.server().resume();
        }
        fleet.close();
    }

    /** How long it took; that Redis could not be asked is a way to end. */
    private static Duration timeOf(Actor.Step step) throws Exception {
        long start = System.nanoTime();
        try {
            step.run();
        } catch (LockUnavailableException expected) {
            // The figure is the time.
        }
        return Duration.ofNanos(System.nanoTime() - start);
    }

    private List<Duration> timesOfMany(int threads, Actor.Step step) throws Exception {
        List<CompletableFuture<Duration>> runs = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            runs.add(fleet.actor().start(() -> timeOf(step)));
        }
        List<Duration> times = new ArrayList<>();
        for (CompletableFuture<Duration> run : runs) {
            times.add(Actor.get(run));
        }
        return times;
    }

    /** How long until it can be had. */
    private static long millisUntilFree(RedisLockRegistry registry, String name) {
        long start = System.nanoTime();
        Actor.await(name + " is free", () -> Fleet.canLock(registry, name));
        return Figures.millisSince(start);
    }

    @Test
    void aTimedTryEndsInTimeWhenRedisHangsForOneAndForMany() throws Exception {
        fleet.server().pause();
        NamedLock lock = registry.get("x");
        assertThat(timesOfMany(5, () -> lock.tryLock(WAIT.toMillis(), TimeUnit.MILLISECONDS)))
                .allMatch(time -> time.compareTo(WAIT.plus(COMMAND_TIMEOUT).plus(SLACK)) < 0);
        fleet.server().resume();
        assertThat(millisUntilFree(fleet.registry(), "x"))
                .as("what Redis read while it hung is given back")
                .isLessThan(RECOVERY_MILLIS);
        fleet.awaitNothingLeft();
    }

    @Test
    void aTryWithoutWaitingThatTimedOutDoesNotOwnTheLockLater() {
        fleet.server().pause();
        assertThatThrownBy(() -> registry.get("x").tryLock()).isInstanceOf(LockUnavailableException.class);
        fleet.server().resume();
        assertThat(millisUntilFree(fleet.registry(), "x")).isLessThan(RECOVERY_MILLIS);
        fleet.awaitNothingLeft();
    }

    @Test
    void waitersBehindALocalHolderEndInTimeWhenRedisHangs() throws Exception {
        NamedLock lock = registry.get("x");
        Actor holder = fleet.holder(lock);
        fleet.server().pause();
        CompletableFuture<Void> release = null;
        List<CompletableFuture<Duration>> runs = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            NamedLock other = registry.get(
                    "x", LockOptions.defaults().withTtl(Duration.ofSeconds(20 + i))); // not served under the same id
            runs.add(fleet.actor().start(() -> timeOf(() -> other.tryLock(300, TimeUnit.MILLISECONDS))));
        }
        Actor.pass(Duration.ofMillis(100));
        release = holder.begin(lock::unlock);
        for (CompletableFuture<Duration> run : runs) {
            assertThat(Actor.get(run))
                    .isLessThan(Duration.ofMillis(300).plus(COMMAND_TIMEOUT).plus(SLACK));
        }
        Actor.get(release);
        fleet.server().resume();
        assertThat(millisUntilFree(fleet.registry(), "x")).isLessThan(RECOVERY_MILLIS);
        fleet.awaitNothingLeft();
    }

    @Test
    void whenRedisIsDownLockFailsInTimeAndWorksAgainAfterwards() throws Exception {
        fleet.server().kill();
        assertThat(timeOf(() -> registry.get("x").lock())).isLessThan(COMMAND_TIMEOUT.plus(SLACK));
        assertThatThrownBy(() -> registry.get("x").lock()).isInstanceOf(LockUnavailableException.class);
        fleet.server().restart();
        long recovery = millisUntilFree(registry, "x");
        Figures.report("Redis back after being down: lock works %d ms later", recovery);
        assertThat(recovery).isLessThan(RECOVERY_MILLIS);
        fleet.awaitNothingLeft();
    }

    @Test
    void whoTriesOnceBesideOthersIsToldOfTheOutage() throws Exception {
        for (boolean gone : new boolean[] {false, true}) {
            if (gone) {
                fleet.server().resume();
                fleet.server().kill();
            } else {
                registry.get("warm").tryLock();
                fleet.server().pause();
            }
            List<CompletableFuture<Boolean>> tries = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                tries.add(fleet.actor().start(() -> registry.get("once").tryLock()));
            }
            for (CompletableFuture<Boolean> each : tries) {
                assertThatThrownBy(() -> Actor.get(each)).isInstanceOf(LockUnavailableException.class);
            }
        }
    }

    @Test
    void noWaiterHangsWhileRedisIsDown() throws Exception {
        fleet.server().kill();
        Duration worst = Duration.ZERO;
        for (int round = 0; round < 4; round++) {
            int wait = 20 * round;
            for (Duration time : timesOfMany(8, () -> registry.get("x").tryLock(wait, TimeUnit.MILLISECONDS))) {
                worst = time.compareTo(worst) > 0 ? time : worst;
            }
        }
        assertThat(worst).isLessThan(COMMAND_TIMEOUT.plusMillis(60).plus(SLACK));
        Actor.await("nothing in use", Duration.ofSeconds(60), () -> fleet.inUse() == 0);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anUnlockUnderWayEndsWhenTheRegistryIsClosed(boolean sharing) throws Exception {
        RedisLockRegistry closing = fleet.registry(builder -> (sharing ? builder.sharingConnections() : builder)
                .commandTimeout(Duration.ofSeconds(20))
                .defaults(LockOptions.defaults().withTtl(Duration.ofMinutes(1))));
        NamedLock lock = closing.get("x");
        Actor holder = fleet.holder(lock);
        fleet.server().pause();
        CompletableFuture<Void> released = holder.begin(lock::unlock);
        Actor.await("it waits for Redis", holder::isWaiting);
        closing.close();
        assertThat(timeOf(() -> Actor.get(released))).isLessThan(Duration.ofSeconds(10));
        fleet.server().resume();
    }

    @Test
    void unlockDuringAnOutageReturnsAndTheLockIsFreeWhenRedisIsBack() throws Exception {
        NamedLock lock = registry.get("x");
        Actor holder = fleet.holder(lock);
        fleet.server().pause();
        long start = System.nanoTime();
        holder.run(lock::unlock);
        assertThat(Figures.millisSince(start))
                .isLessThan(COMMAND_TIMEOUT.plus(SLACK).toMillis());
        Actor.pass(COMMAND_TIMEOUT); // the outage goes on, and with it the settling
        fleet.server().resume();
        long free = millisUntilFree(fleet.registry(), "x");
        Figures.report("unlocked while Redis hung: free %d ms after it went on", free);
        assertThat(free).isLessThan(RECOVERY_MILLIS);
        fleet.awaitNothingLeft();
    }

    @Test
    void aQueuedWaiterEnduresAnOutageShorterThanItsPatience() throws Exception {
        NamedLock held = fleet.registry().get("x");
        Actor holder = fleet.holder(held);
        NamedLock wanted = registry.get("x");
        Actor waiter = fleet.actor();
        CompletableFuture<Boolean> served = waiter.start(() -> wanted.tryLock(20, TimeUnit.SECONDS));
        fleet.awaitQueued("x", 1);
        fleet.server().pause();
        Actor.pass(Duration.ofSeconds(4)); // two polls and more fail
        assertThat(served).isNotDone();
        fleet.server().resume();
        holder.run(held::unlock);
        assertThat(Actor.get(served)).isTrue();
        waiter.run(wanted::unlock);
        fleet.awaitNothingLeft();
    }

    @Test
    void oneBlockedRedisDoesNotDelayTheRenewalsOnAnother() throws Exception {
        Duration ttl = Duration.ofSeconds(9);
        try (Fleet healthy = new Fleet()) {
            NamedLock lock = healthy.registry(Fleet.ttl(ttl)).get("x");
            Actor holder = healthy.holder(lock);
            RedisLockRegistry blocked = fleet.registry(Fleet.ttl(ttl));
            List<Lease> held = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                held.add(Actor.get(blocked.acquireAsync("blocked-" + i, LockOptions.defaults())));
            }
            fleet.server().pause();
            long end = System.nanoTime() + ttl.multipliedBy(2).toNanos();
            while (System.nanoTime() - end < 0) {
                assertThat(holder.call(lock::remainingLease)).isGreaterThan(ttl.dividedBy(3));
                Actor.pass(Duration.ofMillis(50));
            }
            holder.run(lock::unlock);
            assertThat(held).noneMatch(Lease::isValid);
        }
    }
}
