package io.github.lockboot.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.lockboot.Actor;
import io.github.lockboot.NamedLock;
import io.github.lockboot.NamedReadWriteLock;
import io.github.lockboot.fixture.StoredLock;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What readers cost, in commands sent and messages published, counted by Redis. */
class KindCountTests extends OnOneServer {

    private static final int READERS = 16;

    private List<Actor> actors(int count) {
        return Stream.generate(this::actor).limit(count).toList();
    }

    /** A registry whose channel is live, so that readers go on under one grant. */
    private RedisLockRegistry notified() {
        return GrantChannels.open(registries.connected());
    }

    @Test
    void anUncontendedReadHoldIsTwoCommands() {
        NamedLock reader = registries.connected().readWrite("x").readLock();
        reader.lock();
        reader.unlock();
        probe.command("CONFIG", "RESETSTAT");
        for (int i = 0; i < 500; i++) {
            reader.lock();
            reader.unlock();
        }
        assertCommands(1_000, 500);
        assertThat(messages()).isZero();
    }

    @Test
    void aReadHoldUnderAnotherIsNoCommand() {
        NamedReadWriteLock lock = registries.connected().readWrite("x");
        for (NamedLock held : List.of(lock.readLock(), lock.writeLock())) {
            held.lock();
            probe.command("CONFIG", "RESETSTAT");
            for (int i = 0; i < 500; i++) {
                lock.readLock().lock();
                lock.readLock().unlock();
            }
            assertCommands(0, 500);
            held.unlock();
        }
    }

    /** Each thread releases when the next one reads, so that there is always a reader. */
    @Test
    void readHoldsThatOverlapAreTwoCommandsTogether() throws Exception {
        NamedLock reader = notified().readWrite("x").readLock();
        List<Actor> readers = actors(READERS);
        probe.command("CONFIG", "RESETSTAT");
        readers.get(0).run(reader::lock);
        for (int i = 1; i < 50 * READERS; i++) {
            readers.get(i % READERS).run(reader::lock);
            readers.get((i - 1) % READERS).run(reader::unlock);
        }
        readers.get(READERS - 1).run(reader::unlock);
        assertCommands(2, 50 * READERS);
        assertThat(messages()).isZero();
    }

    @Test
    void readersWithoutPauseCostNoCommandsBesideOneThatStays() throws Exception {
        NamedLock reader = notified().readWrite("x").readLock();
        probe.command("CONFIG", "RESETSTAT");
        reader.lock();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (Actor each : actors(READERS - 1)) {
            all.add(each.begin(() -> {
                for (int i = 0; i < 1_000; i++) {
                    reader.lock();
                    reader.unlock();
                }
            }));
        }
        for (CompletableFuture<Void> each : all) {
            each.get(1, TimeUnit.MINUTES);
        }
        reader.unlock();
        assertCommands(2, (READERS - 1) * 1_000 + 1);
        assertThat(messages()).isZero();
    }

    @Test
    void aDowngradeIsOneCommand() {
        NamedReadWriteLock lock = registries.connected().readWrite("x");
        downgraded(lock);
        lock.readLock().unlock(); // from now on, Redis knows all scripts
        probe.command("CONFIG", "RESETSTAT");
        long start = System.nanoTime();
        downgraded(lock);
        assertThat(commands()).isBetween(2L, 2 + mostOfRenewals(start));
        lock.readLock().unlock();
        assertThat(commands()).isBetween(3L, 3 + mostOfRenewals(start));
        assertThat(messages()).isZero();
    }

    private void downgraded(NamedReadWriteLock lock) {
        lock.writeLock().lock();
        lock.readLock().lock();
        lock.writeLock().unlock();
        Actor.await(
                "it is shared",
                () -> !StoredLock.at(probe, "lock:x").holders().isEmpty()
                        && StoredLock.at(probe, "lock:x").owner() == null);
    }

    @Test
    void aReleaseAdmitsTheReadersOfAllInstances() throws Exception {
        NamedLock writer = registries.connected().readWrite("x").writeLock();
        List<NamedLock> instances = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            instances.add(notified().readWrite("x").readLock());
        }
        List<Actor> readers = actors(20);
        long start = System.nanoTime();
        writer.lock();
        CountDownLatch served = new CountDownLatch(readers.size());
        CountDownLatch end = new CountDownLatch(1);
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < readers.size(); i++) {
            NamedLock reader = instances.get(i % instances.size());
            all.add(readers.get(i).begin(() -> {
                reader.lock();
                served.countDown();
                end.await(1, TimeUnit.MINUTES);
                reader.unlock();
            }));
        }
        Actor.await("they wait", () -> readers.stream().allMatch(Actor::isWaiting) && queued() == instances.size());
        probe.command("CONFIG", "RESETSTAT");
        writer.unlock();
        assertThat(served.await(1, TimeUnit.MINUTES)).isTrue();
        // In the same time, each instance renews its lock, or has its first poll.
        assertThat(commands()).isBetween(1L, 1 + (1 + instances.size()) * mostOfRenewals(start));
        assertThat(messages()).isEqualTo(instances.size());
        end.countDown();
        for (CompletableFuture<Void> each : all) {
            Actor.get(each);
        }
    }

    private int queued() {
        return StoredLock.at(probe, "lock:x").queue().size();
    }
}
