package io.github.lockboot.leader;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import io.github.lockboot.Actor;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.internal.Threads;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** What an election does on every registry. Two registries stand for two instances. */
abstract class LeaderElectionContract {

    private static final LeaderElection.Listener NONE = new LeaderElection.Listener() {};

    protected final String role = "role " + UUID.randomUUID();
    private final List<Candidate> candidates = new ArrayList<>();

    protected abstract LockRegistry registry();

    protected abstract LockRegistry otherRegistry();

    protected abstract void closeRegistries();

    /** Takes a lock away from its holder, who may learn of it later than who comes next. */
    protected abstract void lose(String name);

    @AfterEach
    void allLeaveAndTheLockIsFree() {
        candidates.forEach(Candidate::close);
        Actor.await("it is free", () -> !registry().get("leader:" + role).isLocked());
        closeRegistries();
        candidates.forEach(LeaderElectionContract::assertPairs);
    }

    /** Each leadership has one Elected and one Revoked, in order. */
    static void assertPairs(Candidate candidate) {
        List<Candidate.Seen> seen = candidate.seen;
        assertThat(seen.size() % 2).as("as many Elected as Revoked: %s", seen).isZero();
        for (int i = 0; i < seen.size(); i += 2) {
            LeaderElection.Event granted = seen.get(i).event();
            assertThat(granted).as("event %s of %s", i, seen).isInstanceOf(LeaderElection.Elected.class);
            assertThat(seen.get(i + 1).event())
                    .isEqualTo(new LeaderElection.Revoked(granted.role(), granted.fencingToken()));
            assertThat(seen.get(i + 1).leads()).as("leads when revoked").isFalse();
        }
    }

    final Candidate candidate(LockRegistry registry) {
        return known(Candidate.of(registry, role));
    }

    final Candidate known(Candidate candidate) {
        candidates.add(candidate);
        return candidate;
    }

    final Candidate leader() {
        Candidate leader = candidate(registry()).start().awaitTold("granted");
        assertThat(leader.seen.get(0).leads()).isTrue();
        return leader;
    }

    /** One that waits for the lock. */
    final Candidate standing(LockRegistry registry) {
        Candidate standing = candidate(registry).start();
        registry.get("arrived {lock:leader:" + role + "}").isLocked();
        assertThat(standing.election.isLeader()).isFalse();
        return standing;
    }

    @Test
    void everyCandidateTellsWhoLeads() {
        Candidate other = candidate(otherRegistry());
        assertThat(other.election.leader()).isEmpty();
        Candidate leader = leader();
        assertThat(other.election.leader()).isPresent().isEqualTo(leader.election.leader());
    }

    @Test
    void oneLeadsUntilItStopsAndThenTheOther() {
        Candidate one = leader();
        Candidate other = standing(otherRegistry());
        assertThat(one.election.isLeader()).isTrue();
        assertThat(one.election.fencingToken()).hasValue(one.token(0));
        assertThat(one.election.since()).isPresent();
        assertThat(one.election.role()).isEqualTo(role);
        one.election.stop();
        assertThat(one.election.isLeader()).isFalse();
        assertThat(one.election.fencingToken()).isEmpty();
        assertThat(one.election.since()).isEmpty();
        other.awaitTold("granted");
        assertThat(one.told()).isEqualTo("granted revoked");
        assertThat(other.seen.get(0).at()).isGreaterThan(one.seen.get(1).at());
        assertThat(other.token(0)).isGreaterThan(one.token(0));
        assertThat(other.election.isLeader()).isTrue();
    }

    @Test
    void whoResignsStandsBehindTheOthers() {
        Candidate one = leader();
        Candidate other = standing(otherRegistry());
        one.election.resign();
        assertThat(one.election.isLeader()).isFalse();
        other.awaitTold("granted");
        assertThat(one.told()).isEqualTo("granted revoked");
        other.awaitAnotherStands();
        other.election.resign();
        one.awaitTold("granted revoked granted");
        assertThat(other.told()).isEqualTo("granted revoked");
    }

    @Test
    void whoResignsAloneLeadsAgainWithALargerToken() {
        Candidate one = leader();
        one.election.resign();
        one.awaitTold("granted revoked granted");
        assertThat(one.token(2)).isGreaterThan(one.token(0));
        assertThat(one.election.isLeader()).isTrue();
    }

    @Test
    void whoLosesTheLockIsToldAndStandsAgain() {
        Candidate one = leader();
        lose("leader:" + role);
        one.awaitTold("granted revoked granted");
        assertThat(one.election.isLeader()).isTrue();
    }

    @Test
    void twoOfOneInstanceExcludeEachOther() {
        Candidate one = leader();
        Candidate other = standing(registry());
        one.election.resign();
        other.awaitTold("granted");
        assertThat(one.election.isLeader()).isFalse();
    }

    @Test
    void theCallbackOfAStopRunsWhenTheLockIsReleased() throws Exception {
        Candidate one = leader();
        CompletableFuture<String> told = new CompletableFuture<>();
        one.election.stop(() -> told.complete(
                one.told() + " " + otherRegistry().get("leader:" + role).isLocked()));
        assertThat(one.election.isLeader()).isFalse();
        assertThat(one.election.isRunning()).isFalse();
        assertThat(Actor.get(told)).isEqualTo("granted revoked false");
    }

    @Test
    void whoIsStoppedAndStartedStandsAgain() {
        Candidate one = leader();
        one.election.stop();
        one.election.start();
        one.awaitTold("granted revoked granted");
        one.election.start();
        assertThat(one.election.isRunning()).isTrue();
        one.close();
        one.start().awaitTold("granted revoked granted revoked granted");
    }

    @Test
    void whoStopsWhileItStandsLeavesTheQueue() {
        Candidate one = leader();
        Candidate other = standing(otherRegistry());
        AtomicBoolean stopped = new AtomicBoolean();
        other.election.stop(() -> stopped.set(true));
        assertThat(stopped).isTrue();
        one.election.resign();
        one.awaitTold("granted revoked granted");
        assertThat(other.told()).isEmpty();
    }

    @Test
    void whatChangesNothingIsIgnored() {
        Candidate one = candidate(registry());
        one.election.resign();
        AtomicInteger stopped = new AtomicInteger();
        one.election.stop(stopped::incrementAndGet);
        assertThat(stopped).hasValue(1);
        one.start();
        one.start().awaitTold("granted");
        one.election.stop(stopped::incrementAndGet);
        one.election.stop(stopped::incrementAndGet);
        one.election.resign();
        Actor.await("both are told", () -> stopped.get() == 3);
        assertThat(one.told()).isEqualTo("granted revoked");
    }

    @Test
    void aListenerMayResignAndStop() {
        Candidate one = candidate(registry());
        AtomicInteger grants = new AtomicInteger();
        AtomicBoolean stopped = new AtomicBoolean();
        one.election.addListener(new LeaderElection.Listener() {
            @Override
            public void onElected(LeaderElection.Elected event) {
                if (grants.incrementAndGet() == 1) {
                    one.election.resign();
                } else {
                    one.election.stop(() -> stopped.set(true));
                }
                assertThat(one.election.isLeader()).isFalse();
            }

            @Override
            public void onRevoked(LeaderElection.Revoked event) {
                one.election.resign();
                if (grants.get() > 1) {
                    one.election.stop();
                }
            }
        });
        one.start().awaitTold("granted revoked granted revoked");
        Actor.await("it is stopped", stopped::get);
        assertThat(one.election.isRunning()).isFalse();
    }

    @Test
    void whatAListenerThrowsKeepsNothingFromTheOthers() {
        for (Throwable thrown : List.of(new IllegalStateException("of a test"), new AssertionError("of a test"))) {
            LeaderElection election = LeaderElection.of(registry(), role);
            election.addListener(NONE);
            election.addListener(new LeaderElection.Listener() {
                @Override
                public void onElected(LeaderElection.Elected event) {
                    fail();
                }

                @Override
                public void onRevoked(LeaderElection.Revoked event) {
                    fail();
                }

                private void fail() {
                    if (thrown instanceof Error error) {
                        throw error;
                    }
                    throw (RuntimeException) thrown;
                }
            });
            try (Candidate one = known(new Candidate(election)).start().awaitTold("granted")) {
                election.resign();
                one.awaitTold("granted revoked granted");
            }
        }
    }

    @Test
    void aListenerThatBlocksDelaysTheEventsOfItsRoleAlone() {
        CountDownLatch blocked = new CountDownLatch(1);
        Candidate one = candidate(registry());
        one.election.addListener(blockingUntil(blocked));
        one.start().awaitTold("granted");
        Candidate other = standing(otherRegistry());
        Candidate ofAnotherRole =
                known(Candidate.of(registry(), role + " 2")).start().awaitTold("granted");
        lose("leader:" + role);
        other.awaitTold("granted");
        Actor.await("it knows", () -> !one.election.isLeader());
        assertThat(one.told()).isEqualTo("granted");
        ofAnotherRole.election.resign();
        ofAnotherRole.awaitTold("granted revoked granted");
        other.election.stop();
        Actor.await(
                "it is free: who is not told yet does not stand",
                () -> !registry().get("leader:" + role).isLocked());
        blocked.countDown();
        one.awaitTold("granted revoked granted");
    }

    private static LeaderElection.Listener blockingUntil(CountDownLatch end) {
        return new LeaderElection.Listener() {
            @Override
            public void onElected(LeaderElection.Elected event) {
                try {
                    end.await();
                } catch (InterruptedException interrupt) {
                    Thread.currentThread().interrupt();
                }
            }
        };
    }

    @Test
    void theLockIsReleasedWhenListenersHaveReturnedOrAfterTheTtl() {
        Ticks time = new Ticks();
        for (boolean waits : new boolean[] {true, false}) {
            CountDownLatch blocked = new CountDownLatch(1);
            Candidate one = known(new Candidate(new LeaderElection(
                    registry(),
                    role,
                    LockOptions.defaults().withTtl(Duration.ofSeconds(20)),
                    time,
                    Threads.daemons("test"))));
            one.election.addListener(blockingUntil(blocked));
            one.start().awaitTold("granted");
            AtomicBoolean stopped = new AtomicBoolean();
            one.election.stop(() -> stopped.set(true));
            assertThat(one.election.isLeader()).isFalse();
            time.tick(19);
            assertThat(registry().get("leader:" + role).isLocked()).isTrue();
            assertThat(stopped).isFalse();
            if (waits) {
                time.tick(1);
            } else {
                blocked.countDown();
            }
            Actor.await("it is released", stopped::get);
            assertThat(registry().get("leader:" + role).isLocked()).isFalse();
            assertThat(one.told()).isEqualTo(waits ? "granted" : "granted revoked");
            blocked.countDown();
            one.awaitTold("granted revoked");
            Actor.await("nothing is left to look after", time::isIdle);
        }
    }

    @Test
    void aLeadershipThatIsReleasedLeavesTheTimerNothingToDoUntilItsTtl() {
        Ticks time = new Ticks();
        Candidate one = known(new Candidate(
                new LeaderElection(registry(), role, LockOptions.defaults(), time, Threads.daemons("test"))));
        one.start().awaitTold("granted");
        AtomicBoolean stopped = new AtomicBoolean();
        one.election.stop(() -> stopped.set(true));
        Actor.await("it is released", stopped::get);
        Actor.await("the timer has no task", time::isIdle);
    }

    @Test
    void eventsThatFindNoThreadAreDeliveredLater() {
        Ticks time = new Ticks();
        AtomicBoolean lacking = new AtomicBoolean(true);
        Candidate one = known(new Candidate(new LeaderElection(registry(), role, LockOptions.defaults(), time, task -> {
            if (lacking.get()) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return new Thread(task);
        })));
        one.start();
        Actor.await("it leads", one.election::isLeader);
        one.election.resign();
        time.tick(3);
        assertThat(one.told()).isEmpty();
        lacking.set(false);
        Actor.await("it is told", () -> {
            time.tick(1);
            return one.told().equals("granted revoked granted");
        });
    }

    @Test
    void aLogThatThrowsCostsNoEvent() {
        TurboFilter throwing = new TurboFilter() {
            @Override
            public FilterReply decide(
                    Marker marker, Logger logger, Level level, String format, Object[] params, Throwable thrown) {
                if (format != null && format.startsWith("This instance") && format.contains(role)) {
                    throw new IllegalStateException("of a test");
                }
                return FilterReply.NEUTRAL;
            }
        };
        LoggerContext logs = (LoggerContext) LoggerFactory.getILoggerFactory();
        logs.addTurboFilter(throwing);
        try {
            Candidate one = candidate(registry()).start().awaitTold("granted");
            one.election.resign();
            one.awaitTold("granted revoked granted");
        } finally {
            logs.getTurboFilterList().remove(throwing);
        }
    }

    @Test
    void whatManyThreadsDoAtOnceLeavesPairsInOrder() throws Exception {
        Candidate one = candidate(registry());
        Candidate other = candidate(otherRegistry());
        List<CompletableFuture<Void>> all = new ArrayList<>();
        List<Actor> actors = List.of(new Actor(), new Actor(), new Actor(), new Actor());
        for (Actor actor : actors) {
            Random random = new Random(actors.indexOf(actor));
            all.add(actor.begin(() -> {
                for (int i = 0; i < 100; i++) {
                    LeaderElection election = (random.nextBoolean() ? one : other).election;
                    switch (random.nextInt(3)) {
                        case 0 -> election.start();
                        case 1 -> election.stop();
                        default -> election.resign();
                    }
                    Actor.pass(Duration.ofMillis(random.nextInt(5)));
                    OptionalLong term = one.election.fencingToken();
                    boolean otherLeads = other.election.isLeader();
                    assertThat(term.isPresent() && otherLeads && term.equals(one.election.fencingToken()))
                            .as("both lead")
                            .isFalse();
                }
            }));
        }
        for (CompletableFuture<Void> each : all) {
            Actor.get(each);
        }
        actors.forEach(Actor::close);
        one.start();
        other.start();
        Actor.await("one leads", () -> one.election.isLeader() || other.election.isLeader());
        one.close();
        other.close();
        List<Candidate.Seen> inOrder = new ArrayList<>(one.seen);
        inOrder.addAll(other.seen);
        inOrder.sort(Comparator.comparingLong(Candidate.Seen::at));
        for (int i = 0; i < inOrder.size(); i += 2) {
            assertThat(inOrder.get(i).event().fencingToken())
                    .as("no leadership begins in another: %s", inOrder)
                    .isEqualTo(inOrder.get(i + 1).event().fencingToken());
        }
    }

    @Test
    void aRoleOfSeveralLeadersIsRefused() {
        for (LockOptions several :
                List.of(LockOptions.defaults().shared(), LockOptions.defaults().withPermits(2))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> LeaderElection.of(registry(), role, several))
                    .withMessageContaining(role);
        }
        assertThatIllegalArgumentException().isThrownBy(() -> LeaderElection.of(registry(), "\ud800"));
    }
}
