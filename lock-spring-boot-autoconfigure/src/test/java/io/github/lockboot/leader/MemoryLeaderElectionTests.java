package io.github.lockboot.leader;

import java.time.Duration;
import java.util.Map;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** The contract in memory, and what is easier to show there. */
class MemoryLeaderElectionTests extends LeaderElectionContract {

    private final MemoryLockRegistry one = new MemoryLockRegistry();
    private final MemoryLockRegistry other = one.newInstance();

    @Override
    protected LockRegistry registry() {
        return one;
    }

    @Override
    protected LockRegistry otherRegistry() {
        return other;
    }

    @Override
    protected void lose(String name) {
        one.expire(name);
    }

    @Override
    protected void closeRegistries() {
        one.close();
        other.close();
    }

    @Test
    void aTestTakesTheLeadershipAwayAndGivesItBack() {
        Candidate leader = leader();
        Lease another = one.steal("leader:" + role);
        leader.awaitTold("granted revoked");
        assertThat(another.fencingToken()).isGreaterThan(leader.token(0));
        another.close();
        leader.awaitTold("granted revoked granted");
    }

    @Test
    void aLeadershipOutlivesTheLongestHoldOfTheRegistry() {
        Duration second = Duration.ofSeconds(1);
        MemoryLockRegistry brief =
                new MemoryLockRegistry(LockOptions.defaults().withTtl(second).withMaxHold(second), Map.of());
        Candidate leader = known(Candidate.of(brief, role)).start().awaitTold("granted");
        Actor.pass(Duration.ofSeconds(3));
        assertThat(leader.election.isLeader()).isTrue();
        assertThat(leader.told()).isEqualTo("granted");
        leader.close();
    }

    @Test
    void theGroupOfTheLockIsTheRole() {
        MemoryLockRegistry configured = new MemoryLockRegistry(
                LockOptions.defaults(),
                Map.of(
                        "reports",
                                LockOptions.defaults()
                                        .withTtl(Duration.ofSeconds(7))
                                        .withWaitTime(Duration.ZERO),
                        "several", LockOptions.defaults().withPermits(2)));
        Candidate leader = known(Candidate.of(configured, "reports")).start().awaitTold("granted");
        Candidate next = known(Candidate.of(configured, "reports")).start();
        try (Lease another = configured.steal("leader:reports")) {
            leader.awaitTold("granted revoked");
            assertThat(another.isValid()).isTrue();
        }
        Actor.await("one leads, whatever the wait time", () -> leader.election.isLeader() || next.election.isLeader());
        leader.close();
        next.close();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LeaderElection.of(configured, "several"))
                .withMessageContaining("lock.locks.[several]");
    }

    @Test
    void aRegistryThatIsClosingFailsTheElectionUntilItIsStopped() {
        Ticks time = new Ticks();
        MemoryLockRegistry closing = one.newInstance();
        Candidate candidate = known(new Candidate(
                new LeaderElection(closing, role, LockOptions.defaults(), time, task -> new Thread(task))));
        closing.close();
        candidate.start();
        time.tick(3);
        assertThat(candidate.told()).isEmpty();
        candidate.close();
        assertThat(time.isIdle()).isTrue();
    }
}
