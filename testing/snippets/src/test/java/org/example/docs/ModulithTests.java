package org.example.docs;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.Lease;
import io.github.lockboot.ScheduledLock;
import io.github.lockboot.fixture.Await;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.modulith.events.IncompleteEventPublications;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.test.context.TestPropertySource;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/** What docs/recipes.md shows of Spring Modulith's registry of event publications. */
@Tag("modulith")
@TestPropertySource(
        properties = {
            "spring.datasource.url=jdbc:h2:mem:modulith;DB_CLOSE_DELAY=-1",
            "spring.modulith.events.jdbc.schema-initialization.enabled=true",
            "older-than=0s" // the page says 10 minutes
        })
class ModulithTests extends OnRedis {

    @Autowired
    private Republication republication;

    @Autowired
    private ApplicationEventPublisher events;

    @Autowired
    private TransactionTemplate transactions;

    @Autowired
    private JdbcTemplate jdbc;

    @BeforeEach
    void anEventIsLeftOver() {
        redis("FLUSHALL");
        jdbc.update("delete from event_publication");
        Mails.sent.set(0);
        Mails.fails = true;
        transactions.executeWithoutResult(status -> events.publishEvent(new Paid("1")));
        Mails.fails = false;
        assertThat(incomplete()).isOne();
        assertThat(Mails.sent).hasValue(0);
    }

    @Test
    void whatIsLeftOverIsPublishedAgain() {
        republication.run();
        Await.until("the listener has done it", () -> incomplete() == 0);
        assertThat(Mails.sent).hasValue(1);
    }

    @Test
    void whileAnotherInstancePublishesItAgainThisOneDoesNot() throws Exception {
        try (Lease other = anotherInstance().acquire("republication", ONCE)) {
            republication.run();
            assertThat(other.isValid()).isTrue();
        }
        assertThat(incomplete()).isOne();
        assertThat(Mails.sent).hasValue(0);
    }

    @Test
    void afterOneInstanceTheOthersSkipTheSameTick() {
        republication.run();
        Await.until("the listener has done it", () -> incomplete() == 0);
        Mails.fails = true;
        transactions.executeWithoutResult(status -> events.publishEvent(new Paid("2")));
        Mails.fails = false;
        republication.run(); // less than atLeastFor later, as in another instance
        assertThat(incomplete()).isOne();
    }

    private int incomplete() {
        return jdbc.queryForObject(
                "select count(*) from event_publication where completion_date is null", Integer.class);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Republication.class, Mails.class})
    static class Application {}
}

record Paid(String order) {}

class Mails {

    static final AtomicInteger sent = new AtomicInteger();
    static volatile boolean fails;

    @TransactionalEventListener
    void on(Paid paid) {
        if (fails) {
            throw new IllegalStateException("no mail of " + paid.order());
        }
        sent.incrementAndGet();
    }
}

// tag::modulith
@Component
class Republication {

    private final IncompleteEventPublications events;
    // end::modulith
    private final Duration age;

    Republication(IncompleteEventPublications events, @Value("${older-than}") Duration age) {
        this.events = events;
        this.age = age;
    }

    // tag::modulith
    @Scheduled(cron = "0 * * * * *")
    @ScheduledLock(name = "republication", atLeastFor = "30s", ttl = "30s")
    public void run() {
        events.resubmitIncompletePublicationsOlderThan(age); // 10 minutes: longer than any listener takes
    }
}
// end::modulith
