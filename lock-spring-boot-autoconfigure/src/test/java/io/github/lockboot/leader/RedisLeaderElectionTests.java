package io.github.lockboot.leader;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Actor;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.redis.GrantChannels;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.TestRegistries;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The contract on Redis, and what happens when Redis or the way to it fails. */
class RedisLeaderElectionTests extends LeaderElectionContract {

    private static final Duration TTL = Duration.ofSeconds(2);

    private RedisServer server;
    private TestRegistries registries;
    private RedisLockRegistry one;
    private RedisLockRegistry other;

    @BeforeEach
    void start() {
        server = RedisServer.start();
        registries = TestRegistries.on(server);
        one = GrantChannels.open(registry(registries));
        other = GrantChannels.open(registry(registries));
    }

    private static RedisLockRegistry registry(TestRegistries registries) {
        RedisLockRegistry registry = registries.registry(builder -> builder.commandTimeout(Duration.ofSeconds(1))
                .defaults(LockOptions.defaults().withTtl(TTL)));
        Actor.await("connected", () -> TestRegistries.canLock(registry, "connecting"));
        return registry;
    }

    @Override
    protected void closeRegistries() {
        registries.close();
        server.close();
    }

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
        server.command("DEL", "lock:" + name);
    }

    @Test
    void whenRedisIsAwayTheLeaderIsToldBeforeAnotherLeads() {
        Candidate leader = leader();
        Candidate next = standing(other);
        server.pause();
        leader.awaitTold("granted revoked");
        assertThat(leader.election.isLeader()).isFalse();
        server.resume();
        Actor.await("one leads again", () -> leader.election.isLeader() || next.election.isLeader());
        long again = leader.seen.size() > 2 ? leader.seen.get(2).at() : Long.MAX_VALUE;
        Actor.await("it is told", () -> leader.seen.size() > 2 || !next.seen.isEmpty());
        long first = next.seen.isEmpty() ? again : next.seen.get(0).at();
        assertThat(leader.seen.get(1).at()).isLessThan(first);
    }

    @Test
    void whenRedisHasRestartedAndForgottenOneLeadsAgain() {
        Candidate leader = leader();
        Candidate next = standing(other);
        server.stop();
        leader.awaitTold("granted revoked");
        server.restart();
        Actor.await("one leads again", () -> leader.election.isLeader() ^ next.election.isLeader());
    }

    @Test
    void whoIsStartedWithoutRedisLeadsWhenItIsThere() {
        server.stop();
        Candidate candidate = candidate(one).start();
        Actor.pass(Duration.ofMillis(1_500));
        assertThat(candidate.told()).isEmpty();
        server.restart();
        candidate.awaitTold("granted");
    }

    @Test
    void whenTheDataIsGoneTheLeaderIsToldAndOneLeads() {
        Candidate leader = leader();
        Candidate next = standing(other);
        server.command("FLUSHALL");
        leader.awaitTold("granted revoked");
        Actor.await("one leads", () -> leader.election.isLeader() || next.election.isLeader());
    }

    @Test
    void aConnectionThatIsCutEndsTheLeadershipWithTheLease() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server)) {
            TestRegistries behind = TestRegistries.at(proxy.host(), proxy.port());
            try {
                Candidate leader =
                        known(Candidate.of(registry(behind), role)).start().awaitTold("granted");
                Candidate next = standing(other);
                CompletableFuture<Boolean> formerLeads = new CompletableFuture<>();
                next.election.addListener(new LeaderElection.Listener() {

                    @Override
                    public void onElected(LeaderElection.Elected event) {
                        formerLeads.complete(leader.election.isLeader());
                    }
                });
                proxy.refuse();
                leader.awaitTold("granted revoked");
                next.awaitTold("granted");
                assertThat(Actor.get(formerLeads))
                        .as("the former leader leads when the next begins")
                        .isFalse();
                proxy.pass();
                next.election.stop();
                leader.awaitTold("granted revoked granted");
                leader.close();
            } finally {
                behind.close();
            }
        }
    }
}
