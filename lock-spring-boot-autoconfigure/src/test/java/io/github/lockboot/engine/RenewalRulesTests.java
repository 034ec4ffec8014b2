package io.github.lockboot.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Lease;
import io.github.lockboot.engine.ScriptedEngine.Sent;
import io.github.lockboot.redis.protocol.Kind;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static io.github.lockboot.engine.ScriptedEngine.TTL;
import static org.assertj.core.api.Assertions.assertThat;

/** How often, and in which order, Redis is asked to renew leases, however it answers. */
class RenewalRulesTests {

    private static final Duration THIRD = TTL.dividedBy(3);
    private static final Duration TENTH = TTL.dividedBy(10);
    private static final Duration MILLI = Duration.ofMillis(1);

    private final ScriptedEngine scripted = new ScriptedEngine(64);

    private static Reply renewed() {
        return new Reply.Renewed(TTL.toMillis(), 0);
    }

    @Nested
    class OneThatIsNotAnswered {

        private final Lease lease = scripted.granted(100, TTL);
        private final Sent silent = askedInVain();

        private Sent askedInVain() {
            scripted.timer.tick(THIRD);
            Sent sent = scripted.next("renew");
            scripted.timer.tick(Duration.ofSeconds(2));
            sent.expire();
            return sent;
        }

        @Test
        void isNotSentAgainBeforeAThirdOfTheLeaseHasPassed() {
            scripted.timer.tick(THIRD.minusSeconds(2).minus(MILLI));
            scripted.nothingIsSent();
            scripted.timer.tick(MILLI);
            scripted.next("renew").answer(renewed());
            assertThat(lease.remainingLease()).isGreaterThan(TTL.minusSeconds(1));
        }

        @Test
        void isSentAgainOnAnotherConnection() {
            scripted.epoch++;
            scripted.timer.tick(TENTH);
            scripted.next("renew").answer(renewed());
            scripted.timer.tick(THIRD.minus(MILLI));
            scripted.nothingIsSent();
        }

        @Test
        void countsIfTheAnswerComesLate() {
            scripted.timer.tick(Duration.ofSeconds(1));
            silent.answer(renewed());
            assertThat(lease.remainingLease())
                    .as("from when it was sent")
                    .isBetween(TTL.minusSeconds(4), TTL.minusSeconds(3));
            scripted.timer.tick(THIRD.minusSeconds(3).minus(MILLI));
            scripted.nothingIsSent();
            scripted.timer.tick(MILLI);
            scripted.next("renew");
        }

        @Test
        void endsTheLeaseIfItsLateAnswerIsThatItIsLost() {
            silent.answer(Reply.Plain.NOT_HOLDER);
            assertThat(lease.isValid()).isFalse();
            assertThat(scripted.engine.inUse()).isZero();
        }

        @Test
        void isForgottenInRedisIfItsLateAnswerComesAfterTheRelease() {
            lease.closeAfter(Duration.ZERO);
            scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
            silent.answer(renewed());
            scripted.next("unlock").answer(Reply.Plain.RELEASED);
            assertThat(scripted.engine.inUse()).isZero();
        }

        @Test
        void ofWhichTheNextIsAnsweredMayBeAnsweredToo() {
            scripted.timer.tick(THIRD.minusSeconds(2));
            Sent next = scripted.next("renew");
            silent.answer(renewed());
            scripted.timer.tick(Duration.ofSeconds(1));
            next.answer(renewed());
            scripted.timer.tick(THIRD.minusSeconds(2));
            scripted.nothingIsSent();
            scripted.timer.tick(Duration.ofSeconds(1));
            scripted.next("renew");
        }
    }

    @Test
    void oneThatIsRefusedIsRepeatedEveryTenthOfTheLease() {
        Lease lease = scripted.granted(100, TTL);
        scripted.timer.tick(THIRD);
        for (int i = 0; i < 6; i++) {
            scripted.next("renew").fail("LOADING Redis is loading the dataset in memory");
            scripted.timer.tick(TENTH.minus(MILLI));
            scripted.nothingIsSent();
            scripted.timer.tick(MILLI);
        }
        scripted.next("renew").answer(renewed());
        assertThat(lease.isValid()).isTrue();
    }

    @Nested
    class ManyInDoubt {

        private static final int LEASES = 3 * Agenda.MOST_EXTRA;

        private final Map<String, Lease> leases = new HashMap<>();

        ManyInDoubt() {
            scripted.announcesChanges = true;
            for (int i = 0; i < LEASES; i++) {
                CompletableFuture<Lease> future = scripted.acquireNamed("lock-" + i, Duration.ZERO);
                Sent acquire = scripted.next("acquire");
                acquire.answer(new Reply.Granted(100, TTL.toMillis(), 0));
                leases.put(acquire.id(), future.join());
                pass(10);
            }
            pass(1_200);
            scripted.timer.tick(Duration.ofSeconds(3));
            scripted.nothingIsSent();
        }

        private void pass(int millis) {
            for (int i = 0; i < millis; i += 5) {
                scripted.timer.tick(Duration.ofMillis(5));
                while (scripted.sentCount() > 0) {
                    scripted.next("renew").answer(renewed());
                }
            }
        }

        private List<Sent> sent() {
            scripted.timer.tick(Duration.ZERO);
            List<Sent> sent = new ArrayList<>();
            while (scripted.sentCount() > 0) {
                sent.add(scripted.next("renew"));
            }
            return sent;
        }

        @Test
        void areAskedForAFewAtATimeTheOldestDeadlineFirst() {
            scripted.engine.onChanged(null);
            List<Sent> underWay = sent();
            assertThat(underWay).hasSize(Agenda.MOST_EXTRA);
            List<Duration> deadlines = new ArrayList<>(deadlines(underWay));
            while (!underWay.isEmpty()) {
                underWay.remove(0).answer(renewed());
                List<Sent> next = sent();
                assertThat(next).hasSizeLessThanOrEqualTo(1);
                deadlines.addAll(deadlines(next));
                underWay.addAll(next);
            }
            assertThat(deadlines).hasSize(LEASES).isSorted();
        }

        private List<Duration> deadlines(List<Sent> renewals) {
            return renewals.stream()
                    .map(each -> leases.get(each.id()).remainingLease())
                    .toList();
        }

        @Test
        void areNotAskedForAgainByAnotherAnnouncementBeforeAPauseHasPassed() {
            scripted.engine.onChanged(null);
            int all = 0;
            for (List<Sent> some = sent(); !some.isEmpty(); some = sent()) {
                all += some.size();
                some.forEach(each -> each.answer(renewed()));
                scripted.engine.onChanged(null);
            }
            assertThat(all).isEqualTo(LEASES);
        }

        @Test
        void thatRedisDoesNotAnswerForLeaveTheirPlacesToOthers() {
            scripted.engine.onChanged(null);
            List<Sent> silent = sent();
            scripted.timer.tick(Duration.ofSeconds(2));
            silent.forEach(Sent::expire);
            assertThat(sent()).hasSize(Agenda.MOST_EXTRA);
        }

        @Test
        void thatEndMeanwhileLeaveTheirPlacesToOthers() {
            scripted.engine.onChanged(null);
            List<Sent> underWay = sent();
            underWay.forEach(each -> each.answer(Reply.Plain.NOT_HOLDER));
            assertThat(sent()).hasSize(Agenda.MOST_EXTRA);
        }
    }

    /**
     * A Redis that runs one command after the other and needs a fixed time for each, and a command timeout after which
     * answers are late.
     */
    @Nested
    @Tag("not-for-mutants")
    class OnABusyRedis {

        private static final int LEASES = 600;
        private static final long TIMEOUT_MILLIS = 2_000;

        private final Queue<Sent> toRun = new ArrayDeque<>();
        private final Map<Sent, Long> unanswered = new LinkedHashMap<>();
        private final Map<String, Integer> underWay = new HashMap<>();
        private final List<Lease> leases = new ArrayList<>();
        private long now;
        private double serviceMillis;
        private double busyUntil;
        private boolean stalls;
        private int most;
        private int timeouts;

        /** At half of what Redis can do, or seven tenths. */
        private void load(double share) {
            scripted.announcesChanges = true;
            double renewalsPerMilli = LEASES / (double) THIRD.toMillis();
            serviceMillis = share / renewalsPerMilli;
            for (int i = 0; i < LEASES; i++) {
                CompletableFuture<Lease> future = scripted.acquireNamed("lock-" + i, Duration.ofMinutes(1));
                do {
                    pass(Math.round(THIRD.toMillis() / (double) LEASES * 2));
                } while (!future.isDone());
                leases.add(future.join());
            }
            pass(TTL.toMillis());
            assertThat(timeouts)
                    .as("renewals that took too long, before anything happened")
                    .isZero();
            most = 0;
        }

        private void pass(long millis) {
            for (long end = now + millis; now < end; now++) {
                scripted.timer.tick(MILLI);
                take();
                run();
                expire();
            }
        }

        private void take() {
            while (scripted.sentCount() > 0) {
                Sent sent = scripted.next();
                toRun.add(sent);
                unanswered.put(sent, now);
                if (sent.script().equals("renew")) {
                    int copies = underWay.merge(sent.id(), 1, Integer::sum);
                    most = Math.max(most, copies);
                }
            }
        }

        private void run() {
            busyUntil = stalls || toRun.isEmpty() ? Math.max(busyUntil, now) : busyUntil;
            while (!stalls && !toRun.isEmpty() && busyUntil + serviceMillis <= now) {
                busyUntil += serviceMillis;
                Sent sent = toRun.remove();
                unanswered.remove(sent);
                underWay.computeIfPresent(sent.id(), (id, copies) -> copies - 1);
                sent.answer(sent.script().equals("acquire") ? new Reply.Granted(100, TTL.toMillis(), 0) : renewed());
            }
        }

        private void expire() {
            unanswered.entrySet().removeIf(each -> {
                boolean expired = now - each.getValue() >= TIMEOUT_MILLIS;
                if (expired) {
                    timeouts++;
                    each.getKey().expire();
                }
                return expired;
            });
        }

        private void cut() {
            scripted.epoch++;
            List<Sent> lost = new ArrayList<>(toRun);
            toRun.clear();
            underWay.clear();
            lost.forEach(Sent::expire);
            unanswered.keySet().removeAll(lost);
            scripted.engine.onChanged(null);
        }

        private enum Trigger {
            FLUSH,
            FLUSHES,
            CUT,
            CUTS,
            STEP_OF_THE_CLOCK,
            STALL
        }

        private void happen(Trigger trigger) {
            switch (trigger) {
                case FLUSH -> scripted.engine.onChanged(null);
                case FLUSHES -> repeat(() -> scripted.engine.onChanged(null));
                case CUT -> cut();
                case CUTS -> repeat(this::cut);
                case STEP_OF_THE_CLOCK -> scripted.timer.setWallForwardBy(TTL);
                case STALL -> {
                    stalls = true;
                    pass(THIRD.toMillis() - 3_000);
                    stalls = false;
                }
            }
        }

        private void repeat(Runnable happening) {
            for (int i = 0; i < 20; i++) {
                happening.run();
                pass(500);
            }
        }

        @ParameterizedTest
        @EnumSource
        void nothingThatHappensLosesALeaseOrIsAskedForTwice(Trigger trigger) {
            load(0.5);
            happen(trigger);
            pass(TTL.toMillis());
            timeouts = 0;
            pass(TTL.toMillis());
            assertThat(leases.stream().filter(lease -> !lease.isValid()))
                    .as("lost")
                    .isEmpty();
            assertThat(most).as("copies of one renewal under way").isEqualTo(1);
            assertThat(timeouts).as("renewals that took too long, in the end").isZero();
        }

        @ParameterizedTest
        @ValueSource(doubles = {0.7, 0.9})
        void neitherDoesAFlushOfABusierOne(double share) {
            load(share);
            happen(Trigger.FLUSH);
            pass(2 * TTL.toMillis());
            assertThat(leases).allMatch(Lease::isValid);
            assertThat(timeouts).isZero();
        }
    }

    @Test
    void allPermitsOfALockAreRenewedByOneCommand() {
        Kind five = new Kind(5);
        List<Lease> permits = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            CompletableFuture<Lease> future = scripted.acquire(five, Duration.ZERO);
            scripted.next("acquire").answer(new Reply.Granted(100 * (i + 1), TTL.toMillis(), 0));
            permits.add(future.join());
            scripted.timer.tick(Duration.ofSeconds(1));
        }
        for (int round = 0; round < 3; round++) {
            scripted.timer.tick(THIRD);
            Sent renewal = scripted.next("renew");
            scripted.nothingIsSent();
            renewal.answer(
                    new Reply.All(permits.stream().map(permit -> renewed()).toList()));
        }
        permits.sort(Comparator.comparing(Lease::remainingLease));
        assertThat(permits.get(0).remainingLease()).isEqualTo(permits.get(4).remainingLease());
    }

    @Test
    void permitsOfWhichRedisSaysNothingAreRenewedByOneCommandTheNextTime() {
        Kind five = new Kind(5);
        for (int i = 0; i < 5; i++) {
            CompletableFuture<Lease> future = scripted.acquire(five, Duration.ZERO);
            scripted.next("acquire").answer(new Reply.Granted(100 * (i + 1), TTL.toMillis(), 0));
            assertThat(future).isCompleted();
        }
        scripted.timer.tick(THIRD);
        scripted.next("renew").expire();
        scripted.timer.tick(THIRD);
        scripted.next("renew");
        scripted.nothingIsSent();
    }
}
