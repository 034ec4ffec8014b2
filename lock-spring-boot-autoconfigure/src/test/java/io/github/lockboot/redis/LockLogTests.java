package io.github.lockboot.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.engine.EngineLocks;
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
                    .isEqualTo(
                            "Lock release was not confirmed: no group (name digest " + LockNames.digest(NAME)
                                    + "), held for 0 ms by a lease, fencing token 100: the lock may stay held for up to its ttl");
        });
    }

    @Test
    void aWarningBeginsWithTheGroupAndSaysForHowLongWhichThreadHeldTheLock() throws Exception {
        ScriptedEngine scripted = new ScriptedEngine(64);
        try (Actor holder = new Actor()) {
            holds(scripted, holder, LockOptions.defaults().withGroup("order"));
            scripted.timer.tick(Duration.ofSeconds(10));
            scripted.next("renew").answer(Reply.Plain.NOT_HOLDER);
        }
        assertThat(lines.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly(
                        "Lock lost: order (name digest " + LockNames.digest(NAME)
                                + "), held for 10 s by the holder, fencing token 100: it had already ended when it was renewed");
    }

    @Test
    void aStuckHolderIsLoggedWithItsStackAtItsMaximumHold() throws Exception {
        ScriptedEngine scripted = new ScriptedEngine(64);
        String held = "order (name digest " + LockNames.digest(NAME) + "), held for ";
        String beyond = " by the holder, fencing token 100: it was held beyond lock.max-hold (15s)";
        try (Actor holder = new Actor()) {
            holds(scripted, holder, LockOptions.defaults().withGroup("order").withMaxHold(Duration.ofSeconds(15)));
            scripted.timer.tick(Duration.ofSeconds(10));
            scripted.next("renew").answer(new Reply.Renewed(30_000, 0));
            scripted.timer.tick(Duration.ofSeconds(5).minusMillis(1));
            assertThat(lines.list).isEmpty();
            scripted.timer.tick(Duration.ofMillis(1));
            assertThat(lines.list).singleElement().satisfies(line -> {
                assertThat(line.getLevel()).isEqualTo(Level.WARN);
                assertThat(line.getFormattedMessage()).isEqualTo("Lock no longer renewed: " + held + "15 s" + beyond);
                assertThat(line.getThrowableProxy().getMessage()).isEqualTo("where thread the holder is");
                assertThat(line.getThrowableProxy().getStackTraceElementProxyArray())
                        .isNotEmpty();
            });
            scripted.timer.tick(Duration.ofSeconds(25));
        }
        assertThat(lines.list).hasSize(2);
        assertThat(lines.list.get(1).getFormattedMessage())
                .startsWith("Lock lost: " + held)
                .endsWith(beyond);
    }

    /** A group may hold millions of locks within its maximum hold. */
    @Test
    void aHoldThatEndsBeforeItsMaximumHoldLeavesNothingToDo() throws Exception {
        ScriptedEngine scripted = new ScriptedEngine(64);
        try (Actor holder = new Actor()) {
            LockOptions options = LockOptions.defaults().withMaxHold(Duration.ofHours(1));
            holds(scripted, holder, options);
            scripted.timer.tick(Duration.ofSeconds(10));
            scripted.next("renew").answer(Reply.Plain.NOT_HOLDER);
            scripted.timer.tick(Duration.ofSeconds(30));
            assertThat(scripted.timer.planned()).isZero();
            scripted.timer.tick(Duration.ofHours(1));
        }
        assertThat(lines.list)
                .singleElement()
                .satisfies(line -> assertThat(line.getFormattedMessage()).startsWith("Lock lost: "));
    }

    private static void holds(ScriptedEngine scripted, Actor holder, LockOptions options) throws Exception {
        LockOptions complete = options.withTtl(Duration.ofSeconds(30))
                .withWaitTime(Duration.ZERO)
                .withRenewal();
        CompletableFuture<Void> locked = holder.start(() -> {
            Thread.currentThread().setName("the holder");
            EngineLocks.of(scripted.engine, NAME, complete).lock();
            return null;
        });
        Actor.await("it asks", () -> scripted.sentCount() > 0);
        scripted.next("acquire").answer(new Reply.Granted(100, 30_000, 0));
        Actor.get(locked);
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
