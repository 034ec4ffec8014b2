package io.github.lockboot.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.lockboot.Lease;
import io.github.lockboot.NamedLock;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.engine.ScriptedEngine;
import io.github.lockboot.internal.LockNames;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

class LockLogTests {

    private static final String NAME = "customer-4711\r\nforged";

    private final Logger logger = (Logger) LoggerFactory.getLogger(NamedLock.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

    @BeforeEach
    void read() {
        logger.setLevel(Level.DEBUG);
        lines.start();
        logger.addAppender(lines);
    }

    @AfterEach
    void stopReading() {
        logger.detachAppender(lines);
        logger.setLevel(null);
    }

    private void loseAndMiss(ScriptedEngine scripted) {
        scripted.acquireNamed(NAME, Duration.ofMinutes(1));
        scripted.next("acquire").answer(new Reply.Granted(100, 30_000, 0));
        scripted.acquireNamed(NAME, Duration.ZERO);
        scripted.timer.tick(Duration.ofSeconds(10));
        scripted.next("renew").answer(Reply.Plain.NOT_HOLDER);
    }

    @Test
    void contentionIsDebugAndALossOneWarningAndBothHoldADigestOnly() {
        loseAndMiss(new ScriptedEngine(64));
        assertThat(lines.list)
                .hasSize(2)
                .allSatisfy(line -> assertThat(line.getFormattedMessage())
                        .contains(LockNames.digest(NAME))
                        .doesNotContain("4711", "forged", "\n"));
        assertThat(lines.list).extracting(ILoggingEvent::getLevel).containsExactly(Level.DEBUG, Level.WARN);
    }

    @Test
    void aReleaseThatRedisDoesNotConfirmIsAWarning() {
        ScriptedEngine scripted = new ScriptedEngine(64);
        CompletableFuture<Lease> future = scripted.acquireNamed(NAME, Duration.ofMinutes(1));
        scripted.next("acquire").answer(new Reply.Granted(100, 30_000, 0));
        future.join().closeAfter(Duration.ZERO);
        scripted.next("unlock").fail("timed out");
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        assertThat(lines.list).singleElement().satisfies(line -> {
            assertThat(line.getLevel()).isEqualTo(Level.WARN);
            assertThat(line.getFormattedMessage())
                    .startsWith("Lock release not confirmed, it may stay taken for up to its ttl: ")
                    .contains(LockNames.digest(NAME))
                    .doesNotContain("4711");
        });
    }

    @Test
    void inTheClearNoKeyCanForgeALine() {
        ScriptedEngine scripted = new ScriptedEngine(64);
        scripted.engine.context().log().writeNames();
        loseAndMiss(scripted);
        assertThat(lines.list)
                .hasSize(2)
                .allSatisfy(line -> assertThat(line.getFormattedMessage())
                        .contains("customer-4711\\u000d\\u000aforged")
                        .doesNotContain("\n", "\r"));
    }
}
