package io.github.lockboot.redis.protocol;

import java.util.ArrayList;
import java.util.List;

import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock.Holder;
import io.github.lockboot.redis.protocol.ClockedScripts.Seen;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Single rules of the scripts, each with the calls that would show it broken, under a clock of ours. */
class ScriptRulesTests {

    private static final long SECOND = 1_000_000;
    private static final String KEY = "lock:rule";
    private static final int TTL = 30_000;
    private static final int EXCLUSIVE = 0;
    private static final int SHARED = -1;
    private static final int MOST_HOLDERS = 7;

    private static RedisServer server;
    private static RedisProbe redis;
    private static ClockedScripts scripts;

    private long micros = 1_800_000_000 * SECOND;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        redis = server.probe();
        scripts = new ClockedScripts(redis);
    }

    @AfterAll
    static void stop() {
        redis.close();
        server.close();
    }

    @BeforeEach
    void clear() {
        redis.command("FLUSHALL");
    }

    @Test
    void aWaiterThatLeavesLetsThoseBehindItIn() {
        acquire("a-1", SHARED);
        acquire("b-1", EXCLUSIVE);
        acquire("c-1", SHARED);
        Seen left = call(LuaScript.UNLOCK, "b-1", 0);
        assertThat(left.reply()).containsExactly("NOT_HOLDER");
        assertThat(holders(left)).containsExactly("a-1", "c-1");
        assertThat(left.messages()).singleElement().asString().startsWith("lock:client:c c-1 ");
    }

    @Test
    void whoIsCompatibleWithTheHoldersStillWaitsBehindTheQueue() {
        acquire("a-1", SHARED);
        acquire("b-1", EXCLUSIVE);
        assertThat(acquire("c-1", SHARED).reply()).startsWith("QUEUED", 2L);
        assertThat(acquire("c-1", SHARED).reply()).as("when it asks again").startsWith("QUEUED", 2L);
    }

    @Test
    void aReleaseLeavesTheOtherHoldersAsTheyAre() {
        acquire("a-1", SHARED);
        acquire("b-1", SHARED);
        assertThat(holders(call(LuaScript.UNLOCK, "a-1", 0))).containsExactly("b-1");
    }

    @Test
    void aLateDowngradeOfAnIdThatHasEndedChangesNothing() {
        Object fence = acquire("a-1", EXCLUSIVE).reply().get(1);
        call(LuaScript.UNLOCK, "a-1", fence);
        Seen other = acquire("b-1", SHARED);
        Seen late = downgrade("a-1", fence);
        assertThat(late.reply()).containsExactly("NOT_HOLDER");
        assertThat(late.stored().text()).isEqualTo(other.stored().text());
    }

    @Test
    void aLateCommandForAGrantDoesNotChangeALaterOneOfTheSameId() {
        Object fence = acquire("a-1", EXCLUSIVE).reply().get(1);
        micros += 40 * SECOND;
        Seen again = acquire("a-1", EXCLUSIVE);
        assertThat(again.reply().get(1)).isNotEqualTo(fence);
        for (boolean renews : new boolean[] {true, false}) {
            Seen late = renews ? call(LuaScript.RENEW, "a-1", fence, TTL) : downgrade("a-1", fence);
            assertThat(late.reply()).containsExactly("NOT_HOLDER");
            assertThat(late.stored().text()).isEqualTo(again.stored().text());
        }
    }

    @Test
    void permitsThatAreRenewedTogetherAreRenewedEachByItsFence() {
        long one = (Long) acquire("a-1", 3).reply().get(1);
        long other = (Long) acquire("a-2", 3).reply().get(1);
        acquire("b-1", 3);
        micros += 10 * SECOND;
        Seen renewed = renewPermits("a-1", one, "a-2", other + 1, "c-1", other);
        assertThat(renewed.reply()).containsExactly("RENEWED " + TTL + " 0,NOT_HOLDER,NOT_HOLDER");
        long now = micros / 1_000;
        assertThat(renewed.stored().lock().holders().stream().map(each -> each.until() - now))
                .containsExactly((long) TTL, TTL - 10_000L, TTL - 10_000L);
    }

    @Test
    void permitsThatHaveEndedAreNotRenewedAndTheirLockIsNotMadeAnew() {
        long one = (Long) acquire("a-1", 2).reply().get(1);
        long other = (Long) acquire("a-2", 2).reply().get(1);
        call(LuaScript.UNLOCK, "a-1", one);
        assertThat(renewPermits("a-1", one, "a-2", other).reply()).containsExactly("NOT_HOLDER,RENEWED " + TTL + " 0");
        long again = (Long) acquire("a-1", 2).reply().get(1);
        assertThat(renewPermits("a-1", one).reply()).as("late").containsExactly("NOT_HOLDER");
        call(LuaScript.UNLOCK, "a-1", again);
        call(LuaScript.UNLOCK, "a-2", other);
        redis.command("DEL", KEY);
        Seen late = renewPermits("a-1", one, "a-2", other);
        assertThat(late.reply()).containsExactly("NOT_HOLDER,NOT_HOLDER");
        assertThat(late.stored().text()).isEmpty();
    }

    @Test
    void aRenewalOfPermitsShortensNoLeaseAndIsHarmlessTwice() {
        long one = (Long) acquire("a-1", 2).reply().get(1);
        long other = (Long) acquire("a-2", 2).reply().get(1);
        Seen once = renewPermits("a-1", one, "a-2", other);
        micros -= 100;
        Seen twice = renewPermits("a-1", one, "a-2", other);
        assertThat(twice.reply()).isEqualTo(once.reply());
        assertThat(twice.messages()).isEmpty();
        assertThat(twice.stored().text()).isEqualTo(once.stored().text());
        assertThat(twice.stored().ttl()).isBetween(TTL / 2L, (long) TTL);
        List<String> arguments = new ArrayList<>(List.of(
                "a-1",
                LockModel.settings("lock:client:", 1_000, MOST_HOLDERS),
                "" + one,
                "1000",
                "a-2",
                "" + other,
                "1"));
        Seen shorter = scripts.run(LuaScript.RENEW, KEY, arguments, micros);
        assertThat(shorter.stored().text()).isEqualTo(once.stored().text());
    }

    @Test
    void aReaderOrAPermitBeyondTheMostHoldersWaitsLikeBehindAWriter() {
        for (int kind : List.of(SHARED, MOST_HOLDERS + 5)) {
            for (int i = 1; i <= MOST_HOLDERS; i++) {
                assertThat(acquire("a-" + i, kind).reply()).startsWith("GRANTED");
            }
            assertThat(acquire("b-1", kind).reply()).startsWith("QUEUED", 1L);
            assertThat(acquire("c-1", kind).reply()).startsWith("QUEUED", 2L);
            Seen released = call(LuaScript.UNLOCK, "a-2", 0);
            assertThat(released.messages()).singleElement().asString().startsWith("lock:client:b b-1 ");
            assertThat(released.stored().lock().holders()).hasSize(MOST_HOLDERS);
            redis.command("DEL", KEY);
        }
    }

    @Test
    void ofTwoWhoTakeOverAHoldOneHasIt() {
        Object number = acquire("a-1", EXCLUSIVE).reply().get(1);
        assertThat(holders(transfer("a-1", number, "transfer-a-1"))).containsExactly("transfer-a-1");
        Seen taken = transfer("transfer-a-1", number, "b-1");
        assertThat(taken.reply()).containsExactly("GRANTED", number, (long) TTL, 0L);
        assertThat(holders(taken)).containsExactly("b-1");
        Seen late = transfer("transfer-a-1", number, "c-1");
        assertThat(late.reply()).containsExactly("NOT_HOLDER");
        assertThat(late.stored().text()).isEqualTo(taken.stored().text());
    }

    @Test
    void aLateCopyOfATransferChangesNothing() {
        Object number = acquire("a-1", EXCLUSIVE).reply().get(1);
        transfer("a-1", number, "transfer-a-1");
        Seen taken = transfer("transfer-a-1", number, "b-1");
        Seen given = transfer("a-1", number, "transfer-a-1");
        assertThat(given.reply()).as("of the giver").containsExactly("NOT_HOLDER");
        assertThat(given.stored().text()).isEqualTo(taken.stored().text());
        call(LuaScript.UNLOCK, "b-1", number);
        Seen other = acquire("c-1", EXCLUSIVE);
        Seen late = transfer("transfer-a-1", number, "b-1");
        assertThat(late.reply()).as("of the taker, which has ended").containsExactly("NOT_HOLDER");
        assertThat(late.stored().text()).isEqualTo(other.stored().text());
    }

    @Test
    void aTransferIsForTheGrantWhoseNumberItNames() {
        long number = (Long) acquire("a-1", EXCLUSIVE).reply().get(1);
        micros += 40 * SECOND;
        Seen again = acquire("a-1", EXCLUSIVE);
        assertThat(transfer("a-1", number, "b-1").reply()).containsExactly("NOT_HOLDER");
        Seen off = transfer("a-1", (Long) again.reply().get(1) + 1, "b-1");
        assertThat(off.reply()).containsExactly("NOT_HOLDER");
        assertThat(off.stored().text()).isEqualTo(again.stored().text());
    }

    @Test
    void whoHasAnotherHoldIsNotGivenOneMore() {
        long one = (Long) acquire("a-1", 2).reply().get(1);
        Seen both = acquire("b-1", 2);
        Seen refused = transfer("a-1", one, "b-1");
        assertThat(refused.reply()).containsExactly("NOT_HOLDER");
        assertThat(refused.stored().text()).isEqualTo(both.stored().text());
    }

    @Test
    void aTransferThatIsAskedForAgainExtendsTheLease() {
        Object number = acquire("a-1", EXCLUSIVE).reply().get(1);
        micros += 10 * SECOND;
        assertThat(transfer("a-1", number, "b-1").reply()).containsExactly("GRANTED", number, (long) TTL, 0L);
        micros += 10 * SECOND;
        assertThat(transfer("a-1", number, "b-1").reply()).containsExactly("GRANTED", number, (long) TTL, 0L);
        micros += 40 * SECOND;
        Seen late = transfer("a-1", number, "b-1");
        assertThat(late.reply()).as("after the lease").containsExactly("NOT_HOLDER");
        assertThat(late.stored().lock().holders()).isEmpty();
    }

    @Test
    void aTransferBeginsALeaseOfTheTakersTtlAndARepeatedOneDoesNotShortenIt() {
        Object number = acquire("a-1", EXCLUSIVE).reply().get(1);
        Seen shorter = transfer("a-1", number, "b-1", 1_000);
        assertThat(shorter.reply()).containsExactly("GRANTED", number, 1_000L, 0L);
        assertThat(shorter.stored().lock().holders())
                .singleElement()
                .satisfies(each -> assertThat(each.ttl()).isEqualTo(1_000));
        Seen longer = transfer("b-1", number, "c-1", 3 * TTL);
        assertThat(longer.reply()).containsExactly("GRANTED", number, 3L * TTL, 0L);
        assertThat(transfer("b-1", number, "c-1", 1_000).reply()).containsExactly("GRANTED", number, 3L * TTL, 0L);
        assertThat(acquire("c-1", EXCLUSIVE).reply()).as("kept").containsExactly("GRANTED", number, 3L * TTL, 0L);
    }

    @Test
    void readersThatKeepTheLockAreOneHolderUntilTheLatestOfTheirTimes() {
        for (int i = 1; i <= 5; i++) {
            Object number = acquire("a-" + i, SHARED).reply().get(1);
            Seen kept = keep("a-" + i, number, i == 2 ? 3 * TTL : TTL);
            assertThat(kept.reply()).containsExactly("KEPT");
            assertThat(holders(kept)).containsExactly("kept-a-1");
            assertThat(keep("a-" + i, number, TTL).reply()).as("late").containsExactly("NOT_HOLDER");
        }
        micros += 3L * TTL * 1_000 - SECOND;
        assertThat(acquire("b-1", EXCLUSIVE).reply()).startsWith("QUEUED");
        micros += SECOND;
        assertThat(acquire("b-1", EXCLUSIVE).reply()).startsWith("GRANTED");
    }

    @Test
    void aReaderThatWaitsForAHolderToLeaveHasTheLockWhenOneJoinsThoseThatKeepIt() {
        keep("a-1", acquire("a-1", SHARED).reply().get(1), TTL);
        Object second = acquire("a-2", SHARED).reply().get(1);
        for (int i = 3; i <= MOST_HOLDERS; i++) {
            acquire("a-" + i, SHARED);
        }
        assertThat(acquire("b-1", SHARED).reply()).startsWith("QUEUED");
        Seen kept = keep("a-2", second, TTL);
        assertThat(holders(kept)).hasSize(MOST_HOLDERS).endsWith("b-1").doesNotContain("a-2");
        assertThat(kept.messages()).singleElement().asString().startsWith("lock:client:b b-1 ");
    }

    @Test
    void theQueueAndTheOtherHoldersStayAsTheyAreWhenAHoldIsTransferred() {
        long one = (Long) acquire("a-1", 2).reply().get(1);
        acquire("b-1", 2);
        acquire("c-1", 2);
        Seen before = acquire("d-1", EXCLUSIVE);
        Seen transferred = transfer("a-1", one, "e-1");
        assertThat(transferred.reply()).startsWith("GRANTED", one).endsWith(2L);
        assertThat(transferred.messages()).isEmpty();
        assertThat(holders(transferred)).containsExactly("e-1", "b-1");
        assertThat(transferred.stored().lock().queue())
                .isEqualTo(before.stored().lock().queue());
        assertThat(acquire("f-1", 2).reply()).startsWith("QUEUED", 3L);
        assertThat(holders(call(LuaScript.UNLOCK, "e-1", one))).containsExactly("b-1", "c-1");
    }

    @Test
    void aTransferredHoldHasTheKindAndTheTokenThatItHad() {
        Object writer = acquire("a-1", EXCLUSIVE).reply().get(1);
        acquire("b-1", SHARED);
        call(LuaScript.UNLOCK, "a-1", writer);
        long reader = (Long) acquire("b-1", SHARED).reply().get(1);
        assertThat(transfer("b-1", reader, "c-1").reply()).containsExactly("GRANTED", reader, (long) TTL, 0L, writer);
        assertThat(acquire("d-1", SHARED).reply()).startsWith("GRANTED");
        assertThat(acquire("e-1", EXCLUSIVE).reply()).startsWith("QUEUED");
    }

    private Seen transfer(String from, Object number, String to) {
        return transfer(from, number, to, TTL);
    }

    private Seen transfer(String from, Object number, String to, int ttl) {
        return call(LuaScript.ACQUIRE, to, ttl, EXCLUSIVE, 0, from, number, 0);
    }

    private Seen downgrade(String id, Object number) {
        return call(LuaScript.ACQUIRE, id, TTL, SHARED, 0, id, number, number);
    }

    private Seen keep(String id, Object number, int millis) {
        return call(LuaScript.UNLOCK, id, 0, "", millis, number);
    }

    private Seen renewPermits(Object... idsAndFences) {
        List<Object> arguments = new ArrayList<>();
        for (int i = 0; i < idsAndFences.length; i += 2) {
            arguments.addAll(List.of(idsAndFences[i], idsAndFences[i + 1], TTL));
        }
        return call(LuaScript.RENEW, (String) arguments.remove(0), arguments.toArray());
    }

    private static List<String> holders(Seen seen) {
        return seen.stored().lock().holders().stream().map(Holder::id).toList();
    }

    private Seen acquire(String id, int kind) {
        return call(LuaScript.ACQUIRE, id, TTL, kind, 1);
    }

    private Seen call(LuaScript script, String id, Object... more) {
        List<String> arguments = new ArrayList<>(List.of(id, LockModel.settings("lock:client:", 1_000, MOST_HOLDERS)));
        for (Object argument : more) {
            arguments.add(argument.toString());
        }
        micros += 100;
        return scripts.run(script, KEY, arguments, micros);
    }
}
