package io.github.lockboot.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.stream.IntStream;

import io.github.lockboot.Actor;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.Release;
import io.github.lockboot.DistributedLock.Renewal;
import io.github.lockboot.Figures;
import io.github.lockboot.HeldLocks;
import io.github.lockboot.Lease;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.NamedLock;
import io.github.lockboot.RecordingLockListener;
import io.github.lockboot.autoconfigure.LockAutoConfiguration;
import io.github.lockboot.fixture.StoredLock;
import io.github.lockboot.fixture.TcpProxy;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** What locks cost, in commands sent and messages published, counted by Redis. */
class CommandCountTests extends OnOneServer {

    /** At the least: the digest of the script, the key, the id and what else is sent. */
    private static final int BYTES_OF_A_COMMAND = 100;

    /** The lease of a hold that lasts for the whole count: the number of its renewals would depend on the machine. */
    private static final LockOptions UNRENEWED = LockOptions.defaults().withoutRenewal();

    private void resetCounts() {
        probe.command("CONFIG", "RESETSTAT");
    }

    private static void lockAndUnlock(NamedLock lock) {
        lock.lock();
        lock.unlock();
    }

    @Test
    void anUncontendedHoldIsTwoCommands() {
        NamedLock lock = registries.registry().get("uncontended");
        lockAndUnlock(lock);
        resetCounts();
        for (int i = 0; i < 500; i++) {
            lockAndUnlock(lock);
        }
        assertCommands(1_000, 500);
        assertThat(messages()).isZero();
        assertThat(probe.commandCalls().keySet()).noneMatch(command -> command.startsWith("client"));
    }

    @Test
    void aCheckpointAtWhichNobodyWaitsIsNoCommand() {
        NamedLock lock = registries.connected().get("yielding", UNRENEWED.withWaitTime(Duration.ofMinutes(1)));
        resetCounts();
        HeldLocks held = HeldLocks.acquire(List.of(HeldLocks.wanted(lock, null, null)));
        held.runAndRelease(() -> held.<Boolean, RuntimeException>call(() -> false, () -> {
            for (int i = 0; i < 1_000; i++) {
                assertThat(LockContext.current().yieldIfOthersWait()).isFalse();
            }
            return true;
        }));
        assertThat(commands()).isEqualTo(2);
        assertThat(messages()).isZero();
    }

    @Test
    void aRefusalThatNamesTheHolderIsOneCommandAndOneInTheSameInstanceIsNone() throws Exception {
        RedisLockRegistry here = registries.connected();
        RedisLockRegistry elsewhere = registries.connected();
        LockOptions once = UNRENEWED.withWaitTime(Duration.ZERO);
        try (Lease held = elsewhere.acquire("held", once)) {
            String holder = here.holders("held").get(0);
            resetCounts();
            for (int i = 0; i < 500; i++) {
                assertThat(refusal(here, once).getHolderId()).isEqualTo(holder);
            }
            assertThat(commands()).isEqualTo(500);
            resetCounts();
            for (int i = 0; i < 500; i++) {
                assertThat(refusal(elsewhere, once).getHolderId()).isEqualTo(holder);
            }
            assertThat(commands()).isZero();
            assertThat(held.isValid()).isTrue();
        }
    }

    private static LockNotAcquiredException refusal(LockRegistry registry, LockOptions once) {
        return catchThrowableOfType(LockNotAcquiredException.class, () -> registry.acquire("held", once));
    }

    @Test
    void aLockThatStaysTakenIsNotRenewedAndIsTwoCommands() throws Exception {
        RedisLockRegistry registry = registries.registry();
        LockOptions options = LockOptions.defaults().withTtl(Duration.ofSeconds(6));
        Actor.get(registry.acquire("first", options).closeAfter(Duration.ofMinutes(1)));
        resetCounts();
        long start = System.nanoTime();
        Actor.get(registry.acquire("kept", options).closeAfter(Duration.ofMinutes(1)));
        long most = 2 + mostOfRenewals(start); // until it stays taken
        Actor.pass(Duration.ofMillis(3_500));
        assertThat(commands()).isBetween(2L, most);
        assertThat(registry.inspector().inUse()).isZero();
        assertThat(registry.get("kept").isLocked()).isTrue();
    }

    @Test
    void aHoldWhoseReleaseIsSentIsTwoCommandsOfWhichOneIsAwaited() {
        RecordingLockListener listener = new RecordingLockListener();
        NamedLock lock = registries
                .registry(builder -> builder.listener(listener).commandTimeout(Duration.ofSeconds(20)))
                .get("sent", UNRENEWED.withRelease(Release.SEND));
        lockAndUnlock(lock);
        listener.await("released sent");
        resetCounts();
        for (int i = 0; i < 500; i++) {
            lockAndUnlock(lock);
            assertThat(lock.isHeldByCurrentThread()).isFalse();
        }
        lock.lock();
        assertThat(commands()).isEqualTo(1_001);
        assertThat(messages()).isZero();
        Actor.await("all are released", () -> Collections.frequency(listener.told, "released sent") == 501);
        probe.command("CLIENT", "PAUSE", "60000", "WRITE");
        lock.unlock();
        assertThat(Collections.frequency(listener.told, "released sent")).isEqualTo(501);
        probe.command("CLIENT", "UNPAUSE");
        Actor.await("it is released", () -> Collections.frequency(listener.told, "released sent") == 502);
    }

    @Test
    void aLockThatLingersCostsNoCommandWhenItIsTakenAgain() {
        NamedLock lock = lingering(registries.connected());
        holdUntilRenewed(lock);
        long before = commands();
        for (int i = 0; i < 500; i++) {
            lockAndUnlock(lock);
        }
        assertThat(commands() - before).isZero();
        assertThat(lock.isLocked()).isTrue();
    }

    @Test
    void aLockThatLingersIsTakenOverByTheMessagesOfAHandOver() throws Exception {
        NamedLock lock = lingering(registries.connected());
        NamedLock elsewhere = lingering(registries.connected());
        holdUntilRenewed(lock);
        assertThat(elsewhere.tryLock()).isFalse();
        long before = commands();
        long messagesBefore = messages();
        long start = System.nanoTime();
        elsewhere.lock();
        long polls = Figures.millisSince(start) / 1_000;
        // It queues; the other renews its lock, and releases it.
        assertThat(commands() - before).isLessThanOrEqualTo(3 + polls);
        assertThat(messages() - messagesBefore).isEqualTo(2); // that one waits, and that it has it
        elsewhere.unlock();
    }

    /** The next renewal is due after a third of the lease, or when another has changed the lock. */
    private static void holdUntilRenewed(NamedLock lock) {
        lock.lock();
        Actor.awaitRenewals(1, lock::remainingLease);
        lock.unlock();
    }

    /** A lock whose instance has got so far that it lingers, and has given it back. */
    private static NamedLock lingering(RedisLockRegistry registry) {
        LockOptions lingering = LockOptions.defaults().withLinger(Duration.ofMinutes(1));
        NamedLock before = registry.get("lingers before", lingering);
        Actor.await("it lingers", () -> {
            lockAndUnlock(before);
            return before.isLocked();
        });
        lockAndUnlock(registry.get("lingers before")); // on other terms, so it lingers no more
        return registry.get("lingers", lingering);
    }

    @Test
    void aNestedHoldIsNoCommand() {
        NamedLock lock = registries.registry().get("nested", UNRENEWED);
        lock.lock();
        resetCounts();
        for (int i = 0; i < 500; i++) {
            lockAndUnlock(lock);
        }
        assertThat(commands()).isZero();
        lock.unlock();
    }

    private static List<String> twenty() {
        return IntStream.range(0, 20).mapToObj(i -> "name " + i).toList();
    }

    @Test
    void severalUncontendedLocksAreTwoCommandsEach() {
        RedisLockRegistry registry = registries.registry();
        Lock all = registry.allOf(twenty(), UNRENEWED);
        all.lock();
        all.unlock();
        resetCounts();
        for (int i = 0; i < 100; i++) {
            all.lock();
            all.unlock();
        }
        assertThat(commands()).isEqualTo(100 * 40);
        assertThat(messages()).isZero();
        assertThat(probe.commandCalls()).doesNotContainKeys("script|load", "eval");
    }

    /** However many there are: while the server does not answer, all commands have been sent. */
    @Test
    void severalLocksWaitForOneRoundTripEachWay() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server);
                TestRegistries behind = TestRegistries.at(proxy.host(), proxy.port())) {
            Lock all = behind.registry(builder -> builder.commandTimeout(Duration.ofSeconds(20)))
                    .allOf(twenty());
            Actor caller = actor();
            caller.run(all::lock);
            caller.run(all::unlock);
            for (Actor.Step step : List.<Actor.Step>of(all::lock, all::unlock)) {
                probe.command("CLIENT", "PAUSE", "60000", "WRITE");
                long before = proxy.requestBytes();
                CompletableFuture<Void> begun = caller.begin(step);
                Actor.await("all are sent", () -> proxy.requestBytes() - before >= 20 * BYTES_OF_A_COMMAND);
                assertThat(begun).isNotDone();
                probe.command("CLIENT", "UNPAUSE");
                Actor.get(begun);
            }
        }
    }

    @Test
    void severalLeasesAreTwoCommandsEach() {
        RedisLockRegistry registry = registries.connected();
        List<LockContext> wanted = twenty().stream()
                .map(name -> registry.get(name, UNRENEWED))
                .map(lock -> HeldLocks.wanted(lock, wait -> registry.acquireAsync(lock, wait), null))
                .toList();
        HeldLocks.acquireAsync(wanted).join().releaseLater(true).join();
        resetCounts();
        for (int i = 0; i < 100; i++) {
            HeldLocks.acquireAsync(wanted).join().releaseLater(true).join();
        }
        assertThat(commands()).isEqualTo(100 * 40);
    }

    @Test
    void anAnnotatedCallWithSeveralKeysIsTwoCommandsEach() {
        RedisLockRegistry registry = registries.connected();
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
                .withBean(LockRegistry.class, () -> registry)
                .withBean(Stock.class)
                .run(context -> {
                    Stock stock = context.getBean(Stock.class);
                    stock.reserve(twenty());
                    stock.move("a", "b");
                    stock.reserveLater(twenty()).join();
                    resetCounts();
                    assertThat(stock.reserve(twenty())).isEqualTo(20);
                    assertThat(commands()).isEqualTo(40);
                    assertThat(stock.move("a", "b")).isEqualTo("ab");
                    assertThat(commands()).isEqualTo(40 + 4);
                    assertThat(stock.reserveLater(twenty())).succeedsWithin(Duration.ofSeconds(60));
                    assertThat(commands()).isEqualTo(40 + 4 + 40);
                });
    }

    static class Stock {

        @DistributedLock(name = "stock", key = "#names", perElement = true, renew = Renewal.OFF)
        int reserve(List<String> names) {
            return names.size();
        }

        @DistributedLock(name = "stock", key = "#from", renew = Renewal.OFF)
        @DistributedLock(name = "stock", key = "#to", renew = Renewal.OFF)
        String move(String from, String to) {
            return from + to;
        }

        @DistributedLock(name = "stock", key = "#names", perElement = true, renew = Renewal.OFF)
        CompletableFuture<Integer> reserveLater(List<String> names) {
            return CompletableFuture.completedFuture(names.size());
        }
    }

    @Test
    void theOneOfSeveralThatIsTakenElsewhereIsTriedOnceMore() throws Exception {
        Lock all = registries.registry().allOf(twenty(), UNRENEWED);
        NamedLock last = registries.registry().get("name 9", UNRENEWED); // by their order as texts
        last.lock();
        assertThat(all.tryLock()).isFalse();
        resetCounts();
        assertThat(all.tryLock()).isFalse();
        assertThat(commands()).isEqualTo(20 + 1 + 19);
        last.unlock();
        boolean free = actor().call(() -> all.tryLock());
        assertThat(free).isTrue();
    }

    @Test
    void anAttemptInVainIsOneCommandAndNoneBesideALocalHolder() throws Exception {
        NamedLock lock = registries.registry().get("taken", UNRENEWED);
        NamedLock elsewhere = registries.registry().get("taken");
        lock.lock();
        elsewhere.tryLock();
        resetCounts();
        for (int i = 0; i < 100; i++) {
            assertThat(elsewhere.tryLock()).isFalse();
        }
        assertThat(commands()).isEqualTo(100);
        boolean taken = actor().call(lock::tryLock);
        assertThat(taken).isFalse();
        assertThat(commands()).isEqualTo(100);
        lock.unlock();
    }

    @Test
    void threadsOfOneInstancePassTheLockOnWithoutCommands() throws Exception {
        double perHold = contend(1, 16, 2_000, 64);
        assertThat(perHold).isLessThanOrEqualTo(0.01);
    }

    @Test
    void contendingInstancesTakeTurns() throws Exception {
        double perHold = contend(4, 4, 2_000, 64);
        assertThat(perHold).isLessThanOrEqualTo(0.3);
    }

    @Test
    void strictGlobalOrderIsOneCommandAHold() throws Exception {
        double perHold = contend(4, 4, 1_000, 0);
        assertThat(perHold).isLessThanOrEqualTo(1.1);
    }

    /** Commands a hold, from when all threads wait for the lock until the first of them has had enough. */
    private double contend(int instances, int threads, int holdsEach, int limit) throws Exception {
        List<RedisLockRegistry> registry = IntStream.range(0, instances)
                .mapToObj(i -> registries.registry(b -> b.localHandoffLimit(limit)))
                .toList();
        List<NamedLock> locks =
                registry.stream().<NamedLock>map(each -> each.get("contended")).toList();
        CyclicBarrier warm = new CyclicBarrier(instances * threads + 1);
        AtomicBoolean again = new AtomicBoolean();
        AtomicInteger holds = new AtomicInteger();
        AtomicBoolean counted = new AtomicBoolean();
        CompletableFuture<Double> commandsAHold = new CompletableFuture<>();
        List<Actor> contenders = new ArrayList<>();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (NamedLock lock : locks) {
            for (int t = 0; t < threads; t++) {
                Actor contender = actor();
                contenders.add(contender);
                all.add(contender.begin(() -> {
                    for (int i = 0; i < 200; i++) {
                        lockAndUnlock(lock);
                    }
                    warm.await(1, TimeUnit.MINUTES);
                    while (!again.get()) {
                        Thread.yield(); // does not look like waiting for the lock
                    }
                    for (int i = 0; i < holdsEach; i++) {
                        lockAndUnlock(lock);
                        holds.incrementAndGet();
                    }
                    if (counted.compareAndSet(false, true)) {
                        commandsAHold.complete((double) commands() / holds.get());
                    }
                }));
            }
        }
        warm.await(1, TimeUnit.MINUTES);
        registry.forEach(each -> Actor.await("its channel is live", () -> GrantChannels.isLive(each)));
        locks.get(0).lock();
        again.set(true);
        Actor.await("all wait", () -> contenders.stream().allMatch(Actor::isWaiting));
        resetCounts();
        locks.get(0).unlock();
        for (CompletableFuture<Void> each : all) {
            each.get(2, TimeUnit.MINUTES);
        }
        return commandsAHold.get();
    }

    @Test
    void aReleaseWakesOneOfManyWaiters() throws Exception {
        NamedLock held = registries.connected().get("crowded");
        held.lock();
        List<NamedLock> elsewhere = IntStream.range(0, 4)
                .<NamedLock>mapToObj(i -> registries.connected().get("crowded"))
                .toList();
        List<CompletableFuture<Void>> waiting = new ArrayList<>();
        CompletableFuture<Void> end = new CompletableFuture<>();
        CompletableFuture<Void> first = new CompletableFuture<>();
        for (int i = 0; i < 200; i++) {
            NamedLock lock = elsewhere.get(i % 4);
            Actor waiter = actor();
            waiting.add(waiter.begin(() -> {
                lock.lock();
                first.complete(null);
                end.get(1, TimeUnit.MINUTES);
                lock.unlock();
            }));
            Actor.await("it waits", waiter::isWaiting);
        }
        awaitQueue("crowded", 4);
        awaitQuietMoment();
        long commandsBefore = commands();
        long messagesBefore = messages();
        long start = System.nanoTime();
        held.unlock();
        Actor.get(first);
        long sent = commands() - commandsBefore;
        // Each of the four instances asks now and then, and the new holder renews its lock a second later.
        long seconds = Figures.millisSince(start) / 1_000;
        assertThat(sent).isLessThanOrEqualTo(2 + 5 * (1 + seconds));
        assertThat(messages() - messagesBefore).isBetween(1L, 1 + seconds);
        end.complete(null);
        for (CompletableFuture<Void> each : waiting) {
            Actor.get(each);
        }
    }

    /** Just after a poll, so that none falls into the next moment. */
    private void awaitQuietMoment() {
        Actor.await("nobody polls for a while", () -> {
            long before = commands();
            Actor.pass(Duration.ofMillis(150));
            return commands() == before;
        });
    }

    private void awaitQueue(String name, int instances) {
        Actor.await(
                instances + " instances queue",
                () -> StoredLock.at(probe, "lock:" + name).queue().size() == instances);
    }

    @Test
    void anIdleWaitIsOneCommandInTwoSeconds() throws Exception {
        NamedLock held = registries.registry().get("idle", UNRENEWED);
        held.lock();
        NamedLock elsewhere = registries.registry().get("idle");
        List<CompletableFuture<Void>> waiting = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            waiting.add(actor().begin(() -> lockAndUnlock(elsewhere)));
        }
        awaitQueue("idle", 1);
        Actor.pass(Duration.ofMillis(2_200));
        resetCounts();
        long start = System.nanoTime();
        Actor.pass(Duration.ofSeconds(6));
        long sent = commands();
        assertThat(sent).isLessThanOrEqualTo(1 + Figures.millisSince(start) / 2_000);
        held.unlock();
        for (CompletableFuture<Void> each : waiting) {
            Actor.get(each);
        }
    }

    /** Each time that a waiter asks changes the lock of the holder, to which that is announced. */
    @Test
    void aHolderAsksNoMoreOftenThanOneOfItsWaiters() throws Exception {
        NamedLock held = registries.connected().get("watched");
        held.lock();
        List<CompletableFuture<Void>> waiting = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            NamedLock elsewhere = registries.connected().get("watched");
            waiting.add(actor().begin(() -> lockAndUnlock(elsewhere)));
        }
        awaitQueue("watched", 10);
        Actor.pass(Duration.ofSeconds(5));
        resetCounts();
        long start = System.nanoTime();
        Actor.pass(Duration.ofSeconds(8));
        Map<String, Long> calls = probe.commandCalls();
        long intervals = Figures.millisSince(start) / 2_000;
        assertThat(calls.getOrDefault("client|caching", calls.getOrDefault("client", 0L) / 2))
                .as("renewals")
                .isBetween(1L, intervals + 1);
        assertThat(calls.get("evalsha")).isLessThanOrEqualTo((10 + 1) * (intervals + 1));
        held.unlock();
        for (CompletableFuture<Void> each : waiting) {
            Actor.get(each);
        }
    }
}
