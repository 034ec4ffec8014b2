package io.github.lockboot.internal;

import java.lang.reflect.Proxy;
import java.time.Duration;

import io.github.lockboot.LogReader;
import io.github.lockboot.engine.ManualTimer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class OutageLineTests {

    private final ManualTimer timer = new ManualTimer();
    private final OutageLog outage = new OutageLog(timer, Runnable::run);

    @Test
    void anOutageIsALineAtItsBeginningAndOneAtItsEndWithItsLengthAndTheFailedCalls() {
        try (LogReader log = new LogReader()) {
            outage.answered();
            outage.failed("no answer (refused)");
            timer.tick(Duration.ofSeconds(12));
            outage.failed("no answer");
            timer.tick(Duration.ofSeconds(10));
            outage.answered();
            timer.tick(Duration.ofSeconds(4));
            assertThat(log.messages()).containsExactly("Locks are unavailable: no answer (refused)");
            timer.tick(Duration.ofSeconds(1));
            assertThat(log.messages())
                    .containsExactly(
                            "Locks are unavailable: no answer (refused)",
                            "Locks work again after 22.0 s; failed calls: 2");
            assertThat(log.warnings()).hasSize(1);
        }
    }

    /** Of a Cluster, one server may be away. */
    @Test
    void answersAmongFailuresDoNotEndIt() {
        try (LogReader log = new LogReader()) {
            for (int i = 0; i < 100; i++) {
                outage.failed("no answer");
                timer.tick(Duration.ofSeconds(1));
                outage.answered();
                timer.tick(Duration.ofSeconds(1));
            }
            assertThat(log.messages()).hasSize(1);
            timer.tick(Duration.ofSeconds(5));
            assertThat(log.messages()).hasSize(2).last().asString().endsWith(" 199.0 s; failed calls: 100");
        }
    }

    @Test
    void eachOutageIsOneOfItsOwn() {
        try (LogReader log = new LogReader()) {
            for (int i = 0; i < 2; i++) {
                outage.unanswered("no answer");
                timer.tick(Duration.ofSeconds(3));
                outage.answered();
                timer.tick(Duration.ofSeconds(5));
            }
            assertThat(log.messages())
                    .containsExactly(
                            "Locks are unavailable: no answer",
                            "Locks work again after 3.0 s; failed calls: 0",
                            "Locks are unavailable: no answer",
                            "Locks work again after 3.0 s; failed calls: 0");
        }
    }

    @Test
    void anAnswerDuringALackOfMemoryIsLookedForAgain() {
        try (LogReader log = new LogReader()) {
            outage.failed("no answer");
            timer.lack(true);
            outage.answered();
            timer.lack(false);
            outage.answered();
            timer.tick(Duration.ofSeconds(5));
            assertThat(log.messages()).last().asString().startsWith("Locks work again");
        }
    }

    /** The operating system may take the core away there. */
    @Test
    void anAnswerWhoseThreadIsHeldUpAfterItHasScheduledTheEndEndsIt() {
        OutageLog heldUp = new OutageLog(heldUpAfterScheduling(), Runnable::run);
        try (LogReader log = new LogReader()) {
            heldUp.failed("no answer");
            heldUp.answered();
            timer.tick(Duration.ofSeconds(6));
            assertThat(log.messages()).last().asString().startsWith("Locks work again");
            assertThat(heldUp.isGoing()).isFalse();
        }
    }

    private Timer heldUpAfterScheduling() {
        return (Timer) Proxy.newProxyInstance(
                Timer.class.getClassLoader(), new Class<?>[] {Timer.class}, (proxy, method, arguments) -> {
                    Object result = method.invoke(timer, arguments);
                    if (method.getName().equals("schedule")) {
                        timer.tick(Duration.ofMillis(10));
                    }
                    return result;
                });
    }
}
