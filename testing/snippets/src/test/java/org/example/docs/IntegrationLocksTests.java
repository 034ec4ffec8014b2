package org.example.docs;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

import io.github.lockboot.LockLostException;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.Await;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.dsl.IntegrationFlow;
import org.springframework.integration.leader.Candidate;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.MessageBuilder;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.messaging.MessageChannel;

import static org.assertj.core.api.Assertions.assertThat;

/** What docs/migration/spring-integration.md shows: its aggregator and its leader run on locks of this library. */
class IntegrationLocksTests extends OnRedis {

    @Autowired
    @Qualifier("parts.input")
    private MessageChannel parts;

    @Autowired
    private List<Collection<?>> whole;

    @Autowired
    private org.springframework.integration.support.locks.LockRegistry locks;

    @Test
    void anAggregatorPutsMessagesOfManyThreadsTogether() throws Exception {
        AtomicInteger number = new AtomicInteger();
        atOnce(8, () -> {
            for (int i = 0; i < 10; i++) {
                int part = number.getAndIncrement();
                parts.send(MessageBuilder.withPayload(part)
                        .setCorrelationId("group " + part / 8)
                        .setSequenceSize(8)
                        .build());
            }
            return true;
        });
        Await.until("all are whole", () -> whole.size() == 10);
        assertThat(whole).allSatisfy(group -> assertThat(group).hasSize(8));
        assertThat(new ArrayList<>(whole).stream().flatMap(Collection::stream)).doesNotHaveDuplicates();
    }

    @Test
    void oneInstanceLeadsAndAnotherAfterIt() {
        LockRegistryLeaderInitiator here = initiator(locks);
        LockRegistryLeaderInitiator there = initiator(IntegrationLocks.of(anotherInstance()));
        try {
            here.start();
            Await.until("it leads", () -> here.getContext().isLeader());
            there.start();
            assertThat(there.getContext().isLeader()).isFalse();
            here.stop();
            Await.until("the other leads", () -> there.getContext().isLeader());
        } finally {
            here.stop();
            there.stop();
        }
    }

    @Test
    void aLeaderThatHasLostItsLockIsToldAndLeadsAgainOnlyWithIt() {
        AtomicInteger revoked = new AtomicInteger();
        LockRegistryLeaderInitiator initiator = initiator(locks, new DefaultCandidate("an instance", "poller") {
            @Override
            public void onRevoked(Context context) {
                revoked.incrementAndGet();
            }
        });
        try {
            initiator.start();
            Await.until("it leads", () -> initiator.getContext().isLeader());
            redis("DEL", "lock:integration:poller");
            Await.until("it is told", () -> revoked.get() > 0);
            Await.until("it leads again", () -> initiator.getContext().isLeader());
            for (int look = 0; look < 100; look++) {
                assertThat(redis("EXISTS", "lock:integration:poller")).isEqualTo(1L);
            }
        } finally {
            initiator.stop();
        }
    }

    private static LockRegistryLeaderInitiator initiator(
            org.springframework.integration.support.locks.LockRegistry on) {
        return initiator(on, new DefaultCandidate("an instance", "poller"));
    }

    private static LockRegistryLeaderInitiator initiator(
            org.springframework.integration.support.locks.LockRegistry on, Candidate candidate) {
        LockRegistryLeaderInitiator initiator = new LockRegistryLeaderInitiator(on, candidate);
        initiator.setHeartBeatMillis(100);
        initiator.setBusyWaitMillis(50);
        return initiator;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application extends IntegrationLocks {

        @Bean
        List<Collection<?>> whole() {
            return new CopyOnWriteArrayList<>();
        }

        @Bean
        IntegrationFlow parts(
                org.springframework.integration.support.locks.LockRegistry integrationLocks,
                List<Collection<?>> whole) {
            return flow -> flow.aggregate(aggregator -> aggregator.lockRegistry(integrationLocks))
                    .handle(group -> whole.add((Collection<?>) group.getPayload()));
        }
    }
}

class IntegrationLocks {

    static org.springframework.integration.support.locks.LockRegistry of(LockRegistry locks) {
        return new IntegrationLocks().integrationLocks(locks);
    }

    // tag::integration
    @Bean
    org.springframework.integration.support.locks.LockRegistry integrationLocks(LockRegistry locks) {
        return key -> new IntegrationLock(locks.get("integration:" + key));
    }

    /** Tells a thread that it has lost the lock when it asks for it again: a leader does so at each heartbeat. */
    record IntegrationLock(NamedLock ours) implements Lock {

        private NamedLock unlessLost() {
            if (!ours.isHeldByCurrentThread()) {
                try {
                    ours.fencingToken(); // LockLostException if the thread has lost it
                } catch (LockLostException lost) {
                    throw lost;
                } catch (IllegalMonitorStateException notHeld) {
                    // it acquires it for the first time
                }
            }
            return ours;
        }

        @Override
        public void lock() {
            unlessLost().lock();
        }

        @Override
        public void lockInterruptibly() throws InterruptedException {
            unlessLost().lockInterruptibly();
        }

        @Override
        public boolean tryLock() {
            return unlessLost().tryLock();
        }

        @Override
        public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
            return unlessLost().tryLock(time, unit);
        }

        @Override
        public void unlock() {
            ours.unlock();
        }

        @Override
        public Condition newCondition() {
            return ours.newCondition();
        }
    }
    // end::integration
}
