package io.github.lockboot.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Lease;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockUse;
import io.github.lockboot.redis.protocol.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.github.lockboot.engine.ScriptedEngine.TTL;
import static org.assertj.core.api.Assertions.assertThat;

/** What is thrown while a hold is lost, or while a waiter is told that it was served, takes neither from its owner. */
class ThrownWhileLostTests {

    private static final int READS = 30;

    @ParameterizedTest
    @ValueSource(ints = {0, -1})
    void aLossIsReportedOnceWhicheverReadingOfTheClockThrows(int permits) {
        for (int nth = 1; nth <= READS; nth++) {
            ScriptedEngine each = new ScriptedEngine(64);
            CompletableFuture<Lease> future = each.acquire(new Kind(permits), Duration.ofMinutes(1));
            each.next("acquire").answer(new Reply.Granted(100, TTL.toMillis(), 0));
            List<String> losses = new ArrayList<>();
            future.join().onLost(() -> losses.add("lost"));
            each.timer.tick(TTL.dividedBy(3));
            each.timer.failClockAt(nth);
            each.next("renew").answer(Reply.Plain.NOT_HOLDER);
            each.timer.failClockAt(0);
            each.timer.tick(TTL.multipliedBy(2));
            assertThat(losses).as("reading %d throws", nth).containsExactly("lost");
            assertThat(future.join().isValid()).isFalse();
        }
    }

    @Test
    void aLeaseThatIsClosedIsGivenBackAndItsListenersAreToldWhicheverReadingOfTheClockThrows() {
        for (int nth = 1; nth <= READS; nth++) {
            List<String> told = new ArrayList<>();
            ScriptedEngine each = new ScriptedEngine(64, new LockListener() {
                @Override
                public void released(LockUse use, Duration held, boolean confirmed) {
                    told.add("released");
                }

                @Override
                public void lost(LockUse use, Duration held, String reason) {
                    told.add("lost");
                }
            });
            Lease lease = each.granted(100, TTL);
            each.timer.failClockAt(nth);
            try {
                lease.closeAfter(Duration.ZERO);
            } catch (Throwable thrown) {
                assertThat(thrown).hasNoCause();
            }
            each.timer.failClockAt(0);
            for (int second = 0; each.sentCount() == 0 && second < 10; second++) {
                each.timer.tick(Duration.ofSeconds(1));
            }
            each.next("unlock").answer(Reply.Plain.RELEASED);
            each.timer.tick(Duration.ofMinutes(2));
            assertThat(each.engine.inUse()).as("reading %d throws", nth).isZero();
            assertThat(told).as("reading %d throws", nth).containsExactly("released");
        }
    }

    @Test
    void aWaiterWhoseGrantRunsOutBeforeItIsWokenIsNotForgottenWhicheverReadingOfTheClockThrows() {
        for (int nth = 1; nth <= READS; nth++) {
            ScriptedEngine each = new ScriptedEngine(64);
            CompletableFuture<Lease> future = each.acquire(Duration.ofMinutes(1));
            each.holdThreads();
            each.next("acquire").answer(new Reply.Granted(100, TTL.toMillis(), 0));
            each.timer.stopFor(TTL.multipliedBy(2));
            each.timer.failClockAt(nth);
            each.timer.tick(Duration.ofMillis(1));
            each.timer.failClockAt(0);
            each.resumeThreads();
            each.timer.tick(Duration.ofMinutes(3));
            assertThat(future).as("reading %d throws", nth).isDone();
        }
    }
}
