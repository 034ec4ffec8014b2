package io.github.lockboot.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Lease;
import io.github.lockboot.engine.ScriptedEngine.Sent;
import io.github.lockboot.redis.protocol.Kind;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static io.github.lockboot.engine.ScriptedEngine.NAME;
import static io.github.lockboot.engine.ScriptedEngine.TTL;
import static org.assertj.core.api.Assertions.assertThat;

/** What a holder does when the store announces that another has changed its lock. */
class AnnouncedChangeTests {

    private static final String KEY = "lock:" + NAME;
    private static final Duration SHORT = Duration.ofMillis(100);
    private static final Duration SECOND = Duration.ofSeconds(1);

    private ScriptedEngine scripted = new ScriptedEngine(64);

    @BeforeEach
    void announce() {
        scripted.announcesChanges = true;
    }

    /** In seconds, of which more than two count as two. */
    private void askEvery(long retryInterval) {
        scripted = new ScriptedEngine(Duration.ofSeconds(retryInterval), 64);
        announce();
    }

    /** A lease that was renewed a second after its grant, from when on the store watches it. */
    private Lease watched() {
        Lease lease = scripted.granted(100, TTL);
        scripted.timer.tick(SECOND);
        renew();
        return lease;
    }

    private void renew() {
        scripted.next("renew").answer(new Reply.Renewed(TTL.toMillis(), 0));
        scripted.nothingIsSent();
    }

    private void announce(@Nullable String key) {
        scripted.engine.onChanged(key);
        scripted.timer.tick(Duration.ZERO);
    }

    private void release(Lease lease) {
        lease.closeAfter(Duration.ZERO);
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        scripted.nothingIsSent();
        assertThat(scripted.engine.inUse()).isZero();
    }

    @Test
    void aHoldOfLessThanASecondIsNotRenewed() {
        Lease lease = scripted.granted(100, TTL);
        scripted.timer.tick(SECOND.minus(SHORT.multipliedBy(2)));
        scripted.nothingIsSent();
        release(lease);
        scripted.timer.tick(TTL);
        scripted.nothingIsSent();
    }

    @Test
    void aLongerHoldIsRenewedAfterASecondAndThenAsUsual() {
        Lease lease = watched();
        scripted.timer.tick(TTL.dividedBy(3).minus(SECOND));
        scripted.nothingIsSent();
        scripted.timer.tick(SECOND);
        renew();
        release(lease);
    }

    @Test
    void aStoreThatAnnouncesNothingIsNotAskedSooner() {
        scripted.announcesChanges = false;
        Lease lease = scripted.granted(100, TTL);
        scripted.timer.tick(TTL.dividedBy(3).minus(SECOND));
        scripted.nothingIsSent();
        scripted.timer.tick(SECOND);
        renew();
        release(lease);
    }

    /** Its first renewal is due earlier than a second after the grant. */
    @Test
    void aShortLeaseIsRenewedAsEver() {
        CompletableFuture<Lease> future = scripted.acquire(Duration.ZERO, SECOND, true);
        scripted.next("acquire").answer(new Reply.Granted(100, 1_000, 0));
        scripted.timer.tick(Duration.ofMillis(334));
        scripted.next("renew").answer(new Reply.Renewed(1_000, 0));
        release(future.join());
    }

    @Test
    void aLeaseThatIsNotRenewedIsNotWatched() {
        CompletableFuture<Lease> future = scripted.acquire(Duration.ZERO, TTL, false);
        scripted.next("acquire").answer(new Reply.Granted(100, TTL.toMillis(), 0));
        scripted.timer.tick(TTL.dividedBy(2));
        announce(KEY);
        scripted.nothingIsSent();
        release(future.join());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anAnnouncedLossIsKnownAtOnce(boolean ofOneKey) {
        Lease lease = watched();
        List<String> losses = new ArrayList<>();
        lease.onLost(() -> losses.add("lost"));
        announce(ofOneKey ? KEY : null);
        assertThat(lease.isValid()).as("it is only a hint").isTrue();
        scripted.next("renew").answer(Reply.Plain.NOT_HOLDER);
        assertThat(lease.isValid()).isFalse();
        assertThat(losses).containsExactly("lost");
        assertThat(scripted.engine.inUse()).isZero();
    }

    @Test
    void aHoldThatIsNotLostGoesOn() {
        Lease lease = watched();
        announce(KEY);
        renew();
        assertThat(lease.isValid()).isTrue();
        scripted.timer.tick(TTL.dividedBy(3));
        renew();
        release(lease);
    }

    @ParameterizedTest
    @ValueSource(strings = {"lock:other", "lock:", "other", ""})
    void theChangeOfAnotherKeyIsIgnored(String key) {
        Lease lease = watched();
        announce(key);
        scripted.nothingIsSent();
        release(lease);
        announce(KEY);
        announce(null);
        scripted.nothingIsSent();
    }

    @Test
    void anAnnouncementThatComesTwiceIsOneRenewal() {
        Lease lease = watched();
        scripted.engine.onChanged(KEY);
        scripted.engine.onChanged(KEY);
        scripted.engine.onChanged(null);
        scripted.timer.tick(Duration.ZERO);
        renew();
        release(lease);
    }

    /** Answers may be held back for acknowledgements, and each renewal is a change to others. */
    @ParameterizedTest
    @ValueSource(ints = {0, -1})
    void changesDuringARenewalDoNotSendOneEach(int permits) {
        Lease lease = longOne(permits);
        scripted.timer.tick(SECOND);
        for (int i = 0; i < 20; i++) {
            announce(KEY);
        }
        assertThat(scripted.sentCount()).isLessThanOrEqualTo(2);
        int sent = 0;
        for (int i = 0; i < 200; i++) {
            scripted.timer.tick(SHORT);
            if (scripted.sentCount() > 0) {
                sent++;
                announce(KEY);
                scripted.next("renew").answer(new Reply.Renewed(LONG.toMillis(), 0));
            }
        }
        assertThat(sent).isLessThanOrEqualTo(20 + 2);
        while (scripted.sentCount() > 0) {
            answered();
        }
        release(lease);
    }

    // --- however long the lease -------------------------------------------------------------------------------

    private static final Duration LONG = TTL.multipliedBy(100);
    private static final Duration POLL = SECOND.multipliedBy(2);

    private Lease longOne(int permits) {
        CompletableFuture<Lease> future = scripted.acquire(new Kind(permits), Duration.ZERO, LONG);
        scripted.next("acquire").answer(new Reply.Granted(100, LONG.toMillis(), 0));
        return future.join();
    }

    private Lease longAndWatched(int permits) {
        Lease lease = longOne(permits);
        scripted.timer.tick(SECOND);
        answered();
        return lease;
    }

    private void answered() {
        scripted.next("renew").answer(new Reply.Renewed(LONG.toMillis(), 0));
        scripted.nothingIsSent();
    }

    /** Until Redis has answered, the lock may be lost. */
    @ParameterizedTest
    @CsvSource({"0, 2", "-1, 2", "0, 60"})
    void aRenewalInDoubtThatFailsIsRepeatedAsOftenAsAWaiterAsks(int permits, long retryInterval) {
        askEvery(retryInterval);
        Lease lease = longAndWatched(permits);
        announce(KEY);
        for (int i = 0; i < 10; i++) {
            scripted.next("renew").fail("LOADING");
            scripted.nothingIsSent();
            scripted.timer.tick(POLL);
        }
        answered();
        scripted.timer.tick(LONG.dividedBy(4));
        scripted.nothingIsSent();
        release(lease);
    }

    /** Until then the store does not watch the lock. */
    @ParameterizedTest
    @ValueSource(longs = {2, 60})
    void theFirstRenewalIsRepeatedAsOftenAsAWaiterAsksUntilItIsAnswered(long retryInterval) {
        askEvery(retryInterval);
        Lease lease = longOne(0);
        scripted.timer.tick(SECOND);
        for (int i = 0; i < 10; i++) {
            scripted.next("renew").fail("LOADING");
            scripted.nothingIsSent();
            scripted.timer.tick(POLL);
        }
        answered();
        scripted.timer.tick(LONG.dividedBy(4));
        scripted.nothingIsSent();
        release(lease);
    }

    /**
     * The change may have come after the renewal, whose answer was held back or is of a command that was sent again.
     */
    @Test
    void anAnswerToAnEarlierRenewalDoesNotEndTheDoubt() {
        Lease lease = longAndWatched(0);
        announce(KEY);
        Sent early = scripted.next("renew");
        announce(KEY);
        scripted.nothingIsSent();
        early.answer(new Reply.Renewed(LONG.toMillis(), 0));
        scripted.timer.tick(POLL);
        scripted.next("renew").answer(Reply.Plain.NOT_HOLDER);
        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void aLeaseInDoubtByTheTimeOfDayIsRenewedSoonAndAgainSoonIfThatFails() {
        scripted.announcesChanges = false;
        Lease lease = longOne(0);
        scripted.timer.tick(LONG.dividedBy(3).minus(Duration.ofMinutes(1)));
        scripted.nothingIsSent();
        scripted.timer.setWallForwardBy(LONG);
        scripted.timer.tick(POLL);
        scripted.next("renew").fail("LOADING");
        scripted.timer.tick(POLL);
        answered();
        assertThat(lease.isValid()).isTrue();
        release(lease);
    }

    @ParameterizedTest
    @ValueSource(longs = {2, 60})
    void aHolderAsksAsOftenAsAWaiterHoweverManyOthersThereAre(long retryInterval) {
        askEvery(retryInterval);
        Lease lease = watched();
        int renewals = renewalsWhileOthersChangeIt(Duration.ofMinutes(1));
        assertThat(renewals).isBetween(30, 32);
        release(lease);
    }

    /** Each of their renewals is a change to the others. */
    @Test
    void readersDoNotKeepEachOtherBusy() {
        CompletableFuture<Lease> future = scripted.acquire(Kind.SHARED, Duration.ZERO);
        scripted.next("acquire").answer(new Reply.Granted(100, TTL.toMillis(), 0));
        int before = renewalsWhileOthersChangeIt(Duration.ofSeconds(30));
        assertThat(renewalsWhileOthersChangeIt(Duration.ofMinutes(1))).isBetween(6, 7);
        assertThat(before).isLessThanOrEqualTo(8);
        release(future.join());
    }

    /** Of many holders, each would be told of all that the others do. */
    @Test
    void aPermitIsNotWatched() {
        Lease lease = longOne(3);
        scripted.timer.tick(SECOND.multipliedBy(2));
        announce(KEY);
        announce(null);
        scripted.nothingIsSent();
        release(lease);
    }

    /** Lets the time pass, with 200 changes of others a second. */
    private int renewalsWhileOthersChangeIt(Duration time) {
        int renewals = 0;
        for (long tick = 0; tick < time.toMillis(); tick += 5) {
            scripted.timer.tick(Duration.ofMillis(5));
            while (scripted.sentCount() > 0) {
                scripted.next("renew").answer(new Reply.Renewed(TTL.toMillis(), 0));
                renewals++;
            }
            scripted.engine.onChanged(KEY);
        }
        scripted.timer.tick(Duration.ZERO);
        while (scripted.sentCount() > 0) {
            scripted.next("renew").answer(new Reply.Renewed(TTL.toMillis(), 0));
        }
        return renewals;
    }

    @Test
    void onceItIsQuietTheNextLossIsKnownAtOnce() {
        Lease lease = watched();
        renewalsWhileOthersChangeIt(Duration.ofSeconds(10));
        scripted.timer.tick(Duration.ofSeconds(2));
        renew();
        scripted.timer.tick(TTL.dividedBy(3));
        renew();
        announce(KEY);
        Sent renewal = scripted.next("renew");
        renewal.answer(Reply.Plain.NOT_HOLDER);
        assertThat(lease.isValid()).isFalse();
    }

    @Test
    @Timeout(60)
    void aDowngradeDoesNotWaitForTheTurnOfAnExtraRenewal() {
        Lease lease = watched();
        scripted.engine.onChanged(KEY); // the timer, by which the turn comes, has not run
        scripted.engine.name(LockKind.EXCLUSIVE, NAME).downgrade(Hold.of(lease));
        scripted.next("downgrade").answer(new Reply.Granted(100, TTL.toMillis(), 0));
        scripted.timer.tick(Duration.ZERO);
        renew();
    }
}
