package io.github.lockboot.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.lockboot.Actor;
import io.github.lockboot.HeldLocks;
import io.github.lockboot.Lease;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.LockRequest.Transfer;
import io.github.lockboot.engine.ThrowingClient.Plan;
import io.github.lockboot.engine.ThrowingClient.Seam;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whatever is thrown wherever the engine meets its surroundings: who called gets it or an outcome, nobody waits for
 * ever, and the lock is free for others and for this JVM in time. Each use of each seam throws in a run of its own.
 */
@Tag("not-for-mutants")
class ThrownAnywhereTests {

    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000 * MILLI;
    private static final Terms TERMS = Terms.exclusive(3_000, true);
    private static final LockOptions OPTIONS = LockOptions.defaults()
            .withTtl(Duration.ofSeconds(3))
            .withWaitTime(Duration.ZERO)
            .withRenewal();
    private static final Terms OTHER_TERMS = Terms.exclusive(2_000, true);
    private static final Terms LINGERING = Terms.exclusive(3_000, true).lingering(3 * SECOND);
    private static final Terms READ = Terms.shared(3_000, true);
    private static final Terms TWO_PERMITS = Terms.limited(2, 3_000, true);

    /**
     * What it takes at most until a lock is free that nobody gives back: its lease, a dead waiter, a look at what is
     * overdue.
     */
    private static final long IN_TIME = 3 * SECOND + 6 * SECOND + 6 * SECOND;

    /** No more need be seen to know that something is wrong. */
    private static final int MANY = 3;

    private static final long ALL_OVER = 60 * SECOND;

    private static final AtomicInteger RUNS = new AtomicInteger();

    /** What nobody expects. */
    private static final class Unheard extends Error {

        private static final long serialVersionUID = 1L;

        Unheard() {
            super("unheard of");
        }
    }

    static Stream<Arguments> seamsAndErrors() {
        List<Supplier<Throwable>> errors = List.of(Unheard::new, StackOverflowError::new);
        return Stream.of(Seam.values())
                .flatMap(seam -> errors.stream().flatMap(error -> {
                    String name = seam + " throws " + error.get().getClass().getSimpleName();
                    return Stream.of(
                            Arguments.argumentSet(name, seam, error, false),
                            Arguments.argumentSet(name + ", with acknowledgements", seam, error, true));
                }));
    }

    @ParameterizedTest
    @MethodSource("seamsAndErrors")
    void nobodyIsForgottenWhoeverWaits(Seam seam, Supplier<Throwable> error, boolean acknowledging) {
        failuresOf(seam, error, plan -> new World(plan, false, acknowledging).futures());
    }

    @ParameterizedTest
    @MethodSource("seamsAndErrors")
    void nobodyIsForgottenWhereALockLingers(Seam seam, Supplier<Throwable> error, boolean acknowledging) {
        failuresOf(seam, error, plan -> new World(plan, false, acknowledging).lingering());
    }

    @ParameterizedTest
    @MethodSource("seamsAndErrors")
    void nobodyIsForgottenOfReadersWritersAndThoseWithPermits(
            Seam seam, Supplier<Throwable> error, boolean acknowledging) {
        failuresOf(seam, error, plan -> new World(plan, false, acknowledging).kinds());
    }

    @ParameterizedTest
    @MethodSource("seamsAndErrors")
    void nobodyIsForgottenOfThoseWhoTakeSeveralLocksTogether(
            Seam seam, Supplier<Throwable> error, boolean acknowledging) {
        failuresOf(seam, error, plan -> new World(plan, false, acknowledging).several());
    }

    @ParameterizedTest
    @MethodSource("seamsAndErrors")
    void nobodyIsForgottenWhereALockIsHandedOver(Seam seam, Supplier<Throwable> error, boolean acknowledging) {
        failuresOf(seam, error, plan -> new World(plan, false, acknowledging).handedOver());
    }

    /**
     * A thread that waits would wait for ever, for time passes here between what a thread does. It waits for an answer
     * that is lost, and for the timer to put in order what a stack overflow has left.
     */
    static Stream<Arguments> seamsAndErrorsOfThreads() {
        return seamsAndErrors()
                .filter(each -> each.get()[0] != Seam.ANSWER)
                .filter(each -> !(((Supplier<?>) each.get()[1]).get() instanceof StackOverflowError));
    }

    @ParameterizedTest
    @MethodSource("seamsAndErrorsOfThreads")
    void noThreadLeavesALockBehind(Seam seam, Supplier<Throwable> error, boolean acknowledging) {
        failuresOf(seam, error, plan -> {
            try (Actor thread = new Actor()) {
                thread.start(() -> {
                            new World(plan, true, acknowledging).threads();
                            return true;
                        })
                        .get(60, TimeUnit.SECONDS);
            }
        });
    }

    @AfterAll
    static void tellHowManyRunsThereWere() {
        System.out.println("[thrown] " + RUNS + " runs in which something was thrown");
    }

    private interface Run {
        void with(Plan plan) throws Exception;
    }

    private static void failuresOf(Seam seam, Supplier<Throwable> error, Run run) {
        Map<Integer, Throwable> failures = new LinkedHashMap<>();
        Plan plan;
        int nth = 0;
        do {
            plan = new Plan(seam, ++nth, error.get());
            try {
                run.with(plan);
            } catch (Throwable failure) {
                failures.put(nth, failure);
            }
            RUNS.addAndGet(plan.hasThrown() ? 1 : 0);
        } while (plan.hasThrown() && failures.size() < MANY);
        assertThat(failures).as("failures by the use of %s that threw", seam).isEmpty();
    }

    /** Two JVMs on one Redis, of which one has seams that throw. */
    private static final class World {

        private final SimulatedTime time = new SimulatedTime(false);
        private final Map<String, ThrowingClient> clients = new LinkedHashMap<>();
        private final SimulatedRedis redis = new SimulatedRedis(time, null, new SimulatedRedis.Publisher() {

            @Override
            public void toSession(String session, String message) {
                clients.get(session).published(message);
            }

            @Override
            public void changed(String session, String key) {
                clients.get(session).changed(key);
            }
        });
        private final Plan plan;
        private final ThrowingClient throwing;
        private final ThrowingClient other;
        private final List<String> unexpected = new ArrayList<>();
        private final Map<String, CompletableFuture<?>> asked = new LinkedHashMap<>();

        World(Plan plan, boolean atOnce, boolean acknowledging) {
            this.plan = plan;
            throwing = new ThrowingClient("throwing", plan, time, redis, atOnce, acknowledging);
            other = new ThrowingClient("other", Plan.nothing(), time, redis, atOnce, acknowledging);
            clients.put("throwing", throwing);
            clients.put("other", other);
        }

        // --- futures ------------------------------------------------------------------------------------------

        void futures() {
            at(0, () -> ask(throwing, "first", "n", TERMS, 10 * SECOND, 5 * SECOND, 0));
            at(10, () -> ask(throwing, "second", "n", TERMS, 20 * SECOND, SECOND, 0));
            at(20, () -> ask(other, "stranger", "n", TERMS, 30 * SECOND, SECOND, 0));
            at(30, () -> ask(throwing, "on other terms", "n", OTHER_TERMS, 25 * SECOND, SECOND, 2 * SECOND));
            at(40, () -> ask(throwing, "once", "n", TERMS, 0, SECOND, 0));
            at(50, () -> cancelAfter(300, ask(throwing, "cancelled", "n", TERMS, 20 * SECOND, SECOND, 0)));
            at(60, () -> ask(throwing, "impatient", "n", TERMS, SECOND, SECOND, 0));
            at(8_000, () -> ask(throwing, "late", "n", TERMS, 20 * SECOND, SECOND, 0));
            at(12_000, () -> ask(throwing, "alone", "m", TERMS, 10 * SECOND, SECOND, 0));
            runUntil(ALL_OVER);
            allIsOver();
        }

        void kinds() {
            at(0, () -> ask(throwing, "reader", "n", READ, 10 * SECOND, 5 * SECOND, 0));
            at(10, () -> ask(throwing, "second reader", "n", READ, 20 * SECOND, 3 * SECOND, 0));
            at(20, () -> ask(other, "stranger", "n", TERMS, 30 * SECOND, SECOND, 0));
            at(30, () -> ask(throwing, "later reader", "n", READ, 25 * SECOND, SECOND, 2 * SECOND));
            at(40, () -> ask(throwing, "reader once", "n", READ, 0, SECOND, 0));
            at(50, () -> cancelAfter(300, ask(throwing, "cancelled reader", "n", READ, 20 * SECOND, SECOND, 0)));
            at(60, () -> downgradeOnce(ask(throwing, "writer", "n", TERMS, 25 * SECOND, 3 * SECOND, 0)));
            at(70, () -> ask(throwing, "second writer", "n", TERMS, 25 * SECOND, SECOND, 0));
            for (int i = 0; i < 4; i++) {
                String who = "permit " + i;
                at(80 + i, () -> ask(throwing, who, "m", TWO_PERMITS, 20 * SECOND, 2 * SECOND, 0));
            }
            at(90, () -> ask(other, "permit elsewhere", "m", TWO_PERMITS, 20 * SECOND, 2 * SECOND, 0));
            at(100, () -> ask(throwing, "permit once", "m", TWO_PERMITS, 0, SECOND, 0));
            at(12_000, () -> ask(throwing, "late reader", "n", READ, 20 * SECOND, SECOND, 0));
            runUntil(ALL_OVER);
            allIsOver();
        }

        void lingering() {
            for (int i = 0; i < 4; i++) { // the channel is open from the second on
                String who = "comes back " + i;
                at(2_000 * i, () -> ask(throwing, who, "n", LINGERING, 10 * SECOND, SECOND, 0));
            }
            at(8_500, () -> ask(other, "stranger", "n", TERMS, 30 * SECOND, SECOND, 0));
            at(14_000, () -> ask(throwing, "stays", "n", LINGERING, 20 * SECOND, SECOND, 0));
            at(16_000, () -> ask(throwing, "on other terms", "n", OTHER_TERMS, 20 * SECOND, SECOND, 0));
            at(20_000, () -> ask(throwing, "alone", "m", LINGERING, 10 * SECOND, SECOND, 0));
            runUntil(ALL_OVER);
            allIsOver();
        }

        void several() {
            at(0, () -> askForAll(throwing, "all", 3 * SECOND));
            at(10, () -> ask(other, "stranger", "m", TERMS, 30 * SECOND, SECOND, 0));
            at(20, () -> ask(throwing, "beside", "n", TERMS, 20 * SECOND, SECOND, 0));
            at(12_000, () -> askForAll(throwing, "all later", SECOND));
            at(14_000, () -> askForAll(other, "all elsewhere", SECOND));
            at(14_001, () -> askForAll(throwing, "all together with others", SECOND));
            runUntil(ALL_OVER);
            allIsOver();
        }

        void handedOver() {
            at(0, () -> handOver(throwing, other, "n"));
            at(10, () -> ask(other, "stranger", "n", TERMS, 30 * SECOND, SECOND, 0));
            at(20, () -> ask(throwing, "beside", "n", TERMS, 20 * SECOND, SECOND, 0));
            at(30, () -> handOver(other, throwing, "m"));
            at(12_000, () -> handOver(throwing, throwing, "f"));
            runUntil(ALL_OVER);
            if (!plan.hasThrown()) {
                for (String name : List.of("n", "m", "f")) {
                    assertThat(asked.get("who takes over " + name)).isCompleted();
                }
            }
            allIsOver();
        }

        private void handOver(ThrowingClient giver, ThrowingClient taker, String name) {
            take(giver, "who hands over " + name, () -> giver.engine.acquireAsync(request(name, TERMS, 0)), lease -> {
                time.after(SECOND, () -> {
                    Hold hold = Hold.of(lease);
                    Transfer transfer = new Transfer(
                            name,
                            LockKind.EXCLUSIVE,
                            Transfer.idOf(LockKind.EXCLUSIVE, hold.id().text),
                            hold.id().grantNumber,
                            lease.fencingToken());
                    try {
                        Objects.requireNonNull(giver.engine.name(LockKind.EXCLUSIVE, name))
                                .release(hold, transfer)
                                .whenComplete((release, failure) -> {
                                    if (release == Hold.Release.RELEASED) {
                                        time.after(SECOND, () -> takeOver(taker, transfer));
                                    } else {
                                        close(lease, 0);
                                    }
                                });
                    } catch (Throwable thrown) { // the caller got it
                        close(lease, 0);
                    }
                });
            });
        }

        private void takeOver(ThrowingClient taker, Transfer transfer) {
            take(
                    taker,
                    "who takes over " + transfer.name(),
                    () -> taker.engine.takeOver(request(transfer.name(), TERMS, 10 * SECOND), transfer),
                    lease -> time.after(2 * SECOND, () -> close(lease, 0)));
        }

        private void askForAll(ThrowingClient client, String who, long hold) {
            List<LockContext> wanted = Stream.of("f", "m", "n")
                    .map(name -> {
                        NamedLock lock =
                                EngineLocks.of(client.engine, name, OPTIONS.withWaitTime(Duration.ofSeconds(20)));
                        LockRequest request = ((EngineLock) lock).request;
                        return HeldLocks.wanted(
                                lock, wait -> client.engine.acquireAsync(request.waiting(wait.toNanos())), null);
                    })
                    .toList();
            try {
                CompletableFuture<HeldLocks> taken = HeldLocks.acquireAsync(wanted);
                asked.put(who, taken);
                taken.thenAccept(held -> time.after(hold, () -> held.releaseLater(true)));
            } catch (Throwable thrown) {
                if (client == other) {
                    unexpected.add(who + " got " + thrown);
                }
            }
        }

        private void downgradeOnce(@Nullable CompletableFuture<Lease> writer) {
            if (writer != null) {
                writer.thenAccept(lease -> time.after(SECOND, () -> {
                    try {
                        Objects.requireNonNull(throwing.engine.name(LockKind.EXCLUSIVE, "n"))
                                .downgrade(Hold.of(lease));
                    } catch (Throwable thrown) {
                        // the caller got it
                    }
                }));
            }
        }

        private @Nullable CompletableFuture<Lease> ask(
                ThrowingClient client, String who, String name, Terms terms, long wait, long hold, long keep) {
            return take(
                    client,
                    who,
                    () -> client.engine.acquireAsync(request(name, terms, wait)),
                    lease -> time.after(hold, () -> close(lease, keep)));
        }

        private static LockRequest request(String name, Terms terms, long wait) {
            return new LockRequest(name, null, terms, wait, 0, terms != LINGERING, false, LockRequest.ANY_NUMBER);
        }

        private @Nullable CompletableFuture<Lease> take(
                ThrowingClient client, String who, Supplier<CompletableFuture<Lease>> call, Consumer<Lease> then) {
            try {
                CompletableFuture<Lease> future = call.get();
                future.thenAccept(then);
                asked.put(who, future);
                return future;
            } catch (Throwable thrown) {
                if (client == other) {
                    unexpected.add(who + " got " + thrown);
                }
                return null;
            }
        }

        private void close(Lease lease, long keep) {
            try {
                lease.closeAfter(Duration.ofNanos(keep));
            } catch (Throwable thrown) {
                // the caller got it
            }
        }

        private void cancelAfter(long millis, @Nullable CompletableFuture<?> future) {
            at(time.now() / MILLI + millis, () -> {
                if (future != null) {
                    future.cancel(false);
                }
            });
        }

        // --- threads ------------------------------------------------------------------------------------------

        /** None of them has to wait, so all can be done by the one who plays them. */
        void threads() throws Exception {
            NamedLock lock = lock(throwing, "n");
            NamedLock elsewhere = lock(other, "n");
            perhaps(() -> {
                lock.lock();
                try {
                    lock.lock();
                    runUntil(time.now() + 5 * SECOND);
                    once(elsewhere); // if the lock is lost by then
                    lock.unlock();
                } finally {
                    lock.unlock();
                }
                return null;
            });
            runUntil(time.now() + IN_TIME);
            assertThat(once(elsewhere)).as("the other JVM gets it").isTrue();
            perhaps(() -> {
                if (lock.tryLock(1, TimeUnit.SECONDS)) {
                    lock.unlock();
                }
                return null;
            });
            perhaps(() -> once(lock));
            perhaps(() -> {
                HeldLocks held = HeldLocks.acquire(List.of(ofThread("f"), ofThread("m"), ofThread("n")));
                held.release(true);
                return held;
            });
            runUntil(time.now() + IN_TIME);
            plan.end();
            assertThat(once(lock)).as("the same JVM gets it").isTrue();
            allIsOver();
        }

        private LockContext ofThread(String name) {
            return HeldLocks.wanted(lock(throwing, name), null, null);
        }

        private static boolean once(NamedLock lock) {
            if (!lock.tryLock()) {
                return false;
            }
            lock.unlock();
            return true;
        }

        private static NamedLock lock(ThrowingClient client, String name) {
            return EngineLocks.of(client.engine, name, OPTIONS);
        }

        private static void perhaps(Callable<?> action) {
            try {
                action.call();
            } catch (Throwable thrown) {
                // the caller got it
            }
        }

        // --- afterwards ---------------------------------------------------------------------------------------

        private void at(long millis, Runnable action) {
            time.after(millis * MILLI - time.now(), action);
        }

        private void runUntil(long nanos) {
            time.runUntil(nanos, () -> {});
        }

        private void allIsOver() {
            plan.end();
            asked.forEach((who, future) ->
                    assertThat(future.isDone()).as("%s has an outcome", who).isTrue());
            assertThat(asked.getOrDefault("stranger", CompletableFuture.completedFuture(null)))
                    .as("another JVM that waited for 30 s")
                    .isNotCompletedExceptionally();
            for (String name : List.of("n", "m", "f")) {
                for (ThrowingClient client : List.of(other, throwing)) {
                    CompletableFuture<Lease> fresh = client.engine.acquireAsync(request(name, TERMS, IN_TIME));
                    runUntil(time.now() + IN_TIME);
                    assertThat(fresh).as("who asks for %s now", name).isCompletedWithValueMatching(Lease::isValid);
                    fresh.join().closeAfter(Duration.ZERO);
                    runUntil(time.now() + SECOND);
                }
            }
            runUntil(time.now() + 2 * ALL_OVER);
            assertThat(unexpected).isEmpty();
            assertThat(throwing.engine.inUse()).as("in use where it was thrown").isZero();
            assertThat(other.engine.inUse()).as("in use elsewhere").isZero();
            assertThat(redis.keys()).as("what is left in Redis").isEmpty();
        }
    }
}
