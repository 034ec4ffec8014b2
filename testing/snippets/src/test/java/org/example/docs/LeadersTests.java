package org.example.docs;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.lockboot.Lease;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.leader.LeaderElection;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.integration.leader.event.AbstractLeaderEvent;
import org.springframework.integration.leader.event.OnGrantedEvent;
import org.springframework.integration.leader.event.OnRevokedEvent;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** What docs/jobs.md shows of leaders. */
@SpringBootTest(
        webEnvironment = SpringBootTest.WebEnvironment.NONE,
        properties = {"spring.main.banner-mode=off", "lock.type=memory"})
class LeadersTests {

    @Autowired
    private LeaderElection reports;

    @Autowired
    private ReportMailer service;

    @Autowired
    private Consumers consumers;

    @Autowired
    private ForIntegration forIntegration;

    @Test
    void theLeaderIsToldAndWorksAndIntegrationIsToldToo() {
        Await.until("it leads", () -> consumers.told.equals(List.of("start")));
        service.send();
        assertThat(service.sent).containsExactly(reports.fencingToken().orElseThrow());
        reports.resign();
        Await.until("it leads again", () -> consumers.told.equals(List.of("start", "stop", "start")));
        Await.until(
                "integration is told",
                () -> forIntegration.told.equals(
                        List.of("OnGranted reports", "OnRevoked reports", "OnGranted reports")));
    }

    // tag::memory
    @Test
    void aLeaderThatLostTheLockStopsItsWork() {
        MemoryLockRegistry registry = new MemoryLockRegistry();
        LeaderElection election = LeaderElection.of(registry, "reports");
        List<LeaderElection.Event> events = new CopyOnWriteArrayList<>();
        election.addListener(new LeaderElection.Listener() {
            @Override
            public void onRevoked(LeaderElection.Revoked event) {
                events.add(event);
            }
        });
        election.start();
        await().until(election::isLeader); // Awaitility
        try (Lease another = registry.steal("leader:reports")) { // as if another instance led
            await().until(() -> events.size() == 1);
            assertThat(election.isLeader()).isFalse();
            assertThat(another.isValid()).isTrue();
        }
        election.stop();
    }
    // end::memory

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({ReportMailer.class, Consumers.class, LeaderEventsForIntegration.class, ForIntegration.class})
    static class Application {

        // tag::bean
        @Bean
        LeaderElection reports(LockRegistry registry) {
            return LeaderElection.of(registry, "reports");
        }
        // end::bean
    }
}

class ReportMailer {

    final List<Long> sent = new CopyOnWriteArrayList<>();

    // tag::use
    private final LeaderElection reports;

    ReportMailer(LeaderElection reports) {
        this.reports = reports;
    }

    @Scheduled(cron = "0 0 2 * * *")
    void send() {
        if (reports.isLeader()) { // by the clock of this JVM alone, without a command
            long token = reports.fencingToken().orElseThrow(); // if the leadership has ended: nothing is sent
            write(token); // the resource refuses smaller tokens
        }
    }
    // end::use

    private void write(long token) {
        sent.add(token);
    }
}

class Consumers {

    final List<String> told = new CopyOnWriteArrayList<>();

    // tag::events
    @EventListener
    void on(LeaderElection.Elected event) {
        startConsuming();
    }

    @EventListener
    void on(LeaderElection.Revoked event) {
        stopConsuming(); // after resign() and at a shutdown, nobody else leads before this returns
    }
    // end::events

    private void startConsuming() {
        told.add("start");
    }

    private void stopConsuming() {
        told.add("stop");
    }
}

// tag::integration
@Component
class LeaderEventsForIntegration {

    @EventListener
    OnGrantedEvent on(LeaderElection.Elected event) {
        return new OnGrantedEvent(this, () -> true, event.role()); // Spring publishes what a listener returns
    }

    @EventListener
    OnRevokedEvent on(LeaderElection.Revoked event) {
        return new OnRevokedEvent(this, () -> false, event.role());
    }
}
// end::integration

class ForIntegration {

    final List<String> told = new CopyOnWriteArrayList<>();

    @EventListener
    void on(AbstractLeaderEvent event) {
        told.add(event.getClass().getSimpleName().replace("Event", "") + " " + event.getRole());
    }
}
