package io.github.lockboot.redis.protocol;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;

import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.redis.protocol.ClockedScripts.Seen;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What waiters that died in the queue cost the others, and that a live one keeps its place: on Redis, under a clock of
 * ours.
 */
class DeadWaiterScriptTests extends OnClockedScripts {

    private static final String KEY = "lock:dead";
    private static final String HOLDER = "holder-1";
    private static final long CLAIM_LEASE = 6_000;
    private static final long TTL = 30_000;
    private static final int MOST = 1_000;

    private final Map<String, RedisProbe> listeners = new HashMap<>();
    private final Map<String, String> ids = new HashMap<>();
    private long now = 1_800_000_000_000L;
    private long keyGoneAt = Long.MAX_VALUE;
    private int callers;

    // --- after a release --------------------------------------------------------------------------------------

    @ParameterizedTest(name = "{0} dead, a try every {1} ms")
    @CsvSource({"3, 500", "5, 500", "50, 500", "3, 3000", "5, 3000", "50, 3000"})
    void deadWaitersTogetherCostOneClaimLeaseWhereNoWaiterStaysQueued(int dead, long interval) {
        for (long first = interval / 5; first <= interval; first += interval / 5) {
            long released = leaveToTheDead(dead);
            turn(first);
            while (!isGranted(acquire(newCaller(), false))) {
                turn(interval);
            }
            assertThat(now - released).as("when it is free").isLessThan(CLAIM_LEASE + interval);
        }
    }

    @ParameterizedTest(name = "{0} dead, a wait of 1 s every 4 s")
    @ValueSource(ints = {3, 4, 5, 50})
    void deadWaitersTogetherCostOneClaimLeaseWhereWaitsAreShort(int dead) {
        for (long first = 500; first <= 4_000; first += 500) {
            long released = leaveToTheDead(dead);
            turn(first);
            while (!isGrantedWithinASecond(newCaller())) {
                turn(3_000);
            }
            assertThat(now - released).as("when it is free").isLessThanOrEqualTo(CLAIM_LEASE + 4_000);
        }
    }

    private boolean isGrantedWithinASecond(String caller) {
        if (isGranted(acquire(caller, true))) {
            return true;
        }
        turn(1_000);
        return !call(LuaScript.UNLOCK, caller, 0).reply().get(0).equals("NOT_HOLDER");
    }

    @ParameterizedTest(name = "{0} dead")
    @ValueSource(ints = {3, 50})
    void deadWaitersTogetherCostOneClaimLeaseWhereALiveOneStaysQueued(int dead) {
        long released = leaveToTheDead(dead);
        String live = newCaller();
        while (!isGranted(acquire(live, true))) {
            turn(2_000);
        }
        assertThat(now - released).as("until the live one is served").isLessThanOrEqualTo(CLAIM_LEASE + 2_000);
    }

    /** Redis may have been away meanwhile, and then no waiter is dropped at first. */
    @ParameterizedTest(name = "{0} dead, a try every {1} ms")
    @CsvSource({"3, 4000", "5, 5000", "50, 5900"})
    void deadWaitersCostTwoClaimLeasesWhereCallersAreRare(int dead, long interval) {
        for (long first = interval / 5; first <= interval; first += interval / 5) {
            leaveToTheDead(dead);
            Set<String> granted = new HashSet<>();
            turn(first);
            for (Seen seen = acquire(newCaller(), false); !isGranted(seen); seen = acquire(newCaller(), false)) {
                granted.add(seen.stored().lock().owner());
                assertThat(granted).hasSizeLessThanOrEqualTo(2);
                turn(interval);
            }
        }
    }

    // --- where messages reach the living ----------------------------------------------------------------------

    @ParameterizedTest(name = "{0} dead")
    @ValueSource(ints = {1, 2, 10, 300})
    void aReleasePassesTheDeadOverForTheFirstThatListens(int dead) {
        listen("holder", "live");
        acquire(HOLDER, true);
        queueDead(dead);
        acquire("live-1", true);
        acquire("live-2", true);
        Seen released = call(LuaScript.UNLOCK, HOLDER, 0);
        assertThat(released.reply()).isEqualTo(List.of("GRANTED_NEXT"));
        assertThat(released.messages()).singleElement().asString().startsWith("lock:client:live live-1 ");
        Seen next = call(LuaScript.UNLOCK, "live-1", released.stored().lock().fence());
        assertThat(next.messages()).singleElement().asString().startsWith("lock:client:live live-2 ");
    }

    @ParameterizedTest(name = "{0} dead")
    @ValueSource(ints = {1, 2, 10})
    void aNewcomerDoesNotWaitForTheDead(int dead) {
        listen("holder", "caller");
        acquire(HOLDER, true);
        queueDead(dead);
        assertThat(call(LuaScript.UNLOCK, HOLDER, 0).reply()).isEqualTo(List.of("RELEASED"));
        Seen tried = acquire(newCaller(), false);
        assertThat(tried.reply().get(0)).isEqualTo("GRANTED");
        assertThat(tried.stored().lock().queue()).as("they keep their places").hasSize(dead);
    }

    @Test
    void aHolderThatDiedIsFollowedByTheFirstThatListens() {
        listen("live");
        call(LuaScript.ACQUIRE, HOLDER, 1_000, 0, 1);
        queueDead(2);
        acquire("live-1", true);
        turn(1_000);
        assertThat(acquire("live-1", true).reply().get(0)).isEqualTo("GRANTED");
    }

    @Test
    void readersDoNotWaitForADeadWriter() {
        listen("reader", "late");
        call(LuaScript.ACQUIRE, "reader-1", TTL, -1, 1);
        acquire("dead-1", true);
        assertThat(call(LuaScript.ACQUIRE, "late-1", TTL, -1, 1).reply().get(0)).isEqualTo("GRANTED");
    }

    @Test
    void readersBehindADeadWriterAreServedOnceAnyOfThemAsks() {
        listen("reader", "late");
        call(LuaScript.ACQUIRE, "reader-1", TTL, -1, 1);
        listen("writer");
        acquire("writer-1", true);
        assertThat(call(LuaScript.ACQUIRE, "late-1", TTL, -1, 1).reply().get(0)).isEqualTo("QUEUED");
        hangUp("writer");
        assertThat(call(LuaScript.ACQUIRE, "late-1", TTL, -1, 1).reply().get(0)).isEqualTo("GRANTED");
    }

    @Test
    void nobodyIsServedBeforeAWaiterThatListens() {
        listen("holder", "live", "caller");
        acquire(HOLDER, true);
        queueDead(2);
        acquire("live-1", true);
        call(LuaScript.UNLOCK, HOLDER, 0);
        assertThat(acquire(newCaller(), false).reply().get(0)).isEqualTo("BUSY");
    }

    /** It polls. Its first turn goes to another; after its next poll it is a waiter as the others. */
    @Test
    void aLiveWaiterThatNoMessageReachesKeepsItsPlaceAndIsServedOnceItHasAskedAgain() {
        listen("holder", "live");
        acquire(HOLDER, true);
        acquire("mute-1", true);
        acquire("live-1", true);
        acquire("live-2", true);
        Seen first = call(LuaScript.UNLOCK, HOLDER, 0);
        assertThat(first.messages().get(0)).startsWith("lock:client:live live-1 ");
        assertThat(acquire("mute-1", true).reply().get(1)).as("position").isEqualTo(1L);
        Seen second = call(LuaScript.UNLOCK, "live-1", first.stored().lock().fence());
        assertThat(second.stored().lock().owner()).isEqualTo("mute-1");
        assertThat(acquire("mute-1", true).reply().get(0)).isEqualTo("GRANTED");
    }

    @Test
    void aWaiterThatListensAgainIsServedInItsTurn() {
        listen("holder", "live");
        acquire(HOLDER, true);
        acquire("mute-1", true);
        acquire("live-1", true);
        Seen first = call(LuaScript.UNLOCK, HOLDER, 0);
        listen("mute");
        Seen second = call(LuaScript.UNLOCK, "live-1", first.stored().lock().fence());
        assertThat(second.messages()).singleElement().asString().startsWith("lock:client:mute mute-1 ");
    }

    /** As behind a proxy that counts nobody. */
    @Test
    void whereNoMessageReachesTheCallerNobodyIsPassedOver() {
        listen("live");
        acquire(HOLDER, true);
        acquire("mute-1", true);
        acquire("live-1", true);
        assertThat(call(LuaScript.UNLOCK, HOLDER, 0).stored().lock().owner()).isEqualTo("mute-1");
    }

    @Test
    void onAClusterNobodyIsPassedOver() {
        listen("holder", "live");
        acquire(HOLDER, true);
        acquire("mute-1", true);
        acquire("live-1", true);
        String settings = LockModel.settings("lock:client:", MOST, 100, false);
        assertThat(callAs(settings, LuaScript.UNLOCK, HOLDER, 0).stored().lock().owner())
                .isEqualTo("mute-1");
    }

    @Test
    void aUserThatMayNotCountSubscribersPassesNobodyOver() {
        listen("holder", "live");
        acquire(HOLDER, true);
        acquire("mute-1", true);
        acquire("live-1", true);
        redis.command("ACL", "SETUSER", "default", "-pubsub");
        try {
            assertThat(call(LuaScript.UNLOCK, HOLDER, 0).stored().lock().owner())
                    .isEqualTo("mute-1");
        } finally {
            redis.command("ACL", "SETUSER", "default", "+pubsub");
        }
    }

    private void listen(String... sessions) {
        for (String session : sessions) {
            RedisProbe listener = server.probe();
            listeners.put(session, listener);
            ids.put(session, String.valueOf(listener.command("CLIENT", "ID")));
            listener.command("SUBSCRIBE", "lock:client:" + session);
        }
    }

    /** Redis frees a client that it kills before it answers. */
    private void hangUp(String session) {
        redis.command("CLIENT", "KILL", "ID", ids.get(session));
        listeners.remove(session).close();
    }

    @AfterEach
    void hangUpAll() {
        List.copyOf(listeners.keySet()).forEach(this::hangUp);
    }

    // --- under a held lock ------------------------------------------------------------------------------------

    @Test
    void deadWaitersLeaveTheQueueOfAHeldLockAtTheNextCall() {
        acquire(HOLDER, true);
        queueDead(300);
        String live = newCaller();
        for (int poll = 0; poll < 5; poll++) {
            acquire(live, true);
            turn(2_000);
        }
        assertThat(acquire(live, true).reply().get(1)).as("position").isEqualTo(1L);
    }

    @Test
    void deadWaitersLeaveTheQueueOfAHeldLockThatIsOnlyRenewed() {
        long token = (Long) acquire(HOLDER, true).reply().get(1);
        queueDead(300);
        Seen renewed = null;
        for (int renewal = 0; renewal < 3; renewal++) {
            turn(10_000);
            renewed = call(LuaScript.RENEW, HOLDER, token, TTL);
        }
        assertThat(renewed.reply().get(2)).as("waiters").isEqualTo(0L);
        assertThat(renewed.stored().text()).matches("\\[1,\"\\d+\",\\[\\[\"holder-1\",\\d+,\\d+,0]]]");
    }

    @Test
    void deadWaitersDoNotKeepTheQueueFull() {
        acquire(HOLDER, true);
        queueDead(20);
        List<Object> reply = List.of();
        for (long waited = 0; waited <= 6_000; waited += 500) {
            reply = call(20, LuaScript.ACQUIRE, "live-1", TTL, 0, 1).reply();
            turn(500);
        }
        assertThat(reply.get(0)).isEqualTo("QUEUED");
    }

    // --- live ones --------------------------------------------------------------------------------------------

    @Test
    void whoeverIsBackAfterRedisWasAwaySkipsNobody() {
        acquire(HOLDER, true);
        acquire("a-1", true);
        acquire("b-1", true);
        turn(20_000);
        assertThat(acquire("b-1", true).reply().get(1)).as("position of b").isEqualTo(2L);
        turn(3_500);
        assertThat(acquire("a-1", true).reply().get(1)).as("position of a").isEqualTo(1L);
    }

    @Test
    void anAbsenceOfRedisIsAnExcuseAgainForWaitersSeenSince() {
        acquire(HOLDER, true);
        acquire("a-1", true);
        for (int absence = 0; absence < 3; absence++) {
            turn(7_000);
            acquire(newCaller(), false);
            turn(2_000);
            assertThat(acquire("a-1", true).reply().get(1)).isEqualTo(1L);
            acquire(HOLDER, true);
        }
    }

    /**
     * Waiters that ask every poll lose no place by absences of Redis or steps of its clock, one at a time, or by
     * callers that do not stay.
     */
    @Test
    void aLiveWaiterIsNeverSkipped() {
        for (long seed = 0; seed < 100; seed++) {
            clear();
            keepsItsPlace(new Random(seed), seed);
        }
    }

    private void keepsItsPlace(Random random, long seed) {
        int waiters = 2 + random.nextInt(4);
        long[] asksAt = new long[waiters];
        call(LuaScript.ACQUIRE, HOLDER, 86_400_000, 0, 1);
        for (int i = 0; i < waiters; i++) {
            acquire("w-" + i, true);
            asksAt[i] = now + random.nextInt((int) LockModel.POLL);
        }
        Set<Integer> notBack = new HashSet<>();
        for (int step = 0; step < 200; step++) {
            turn(10);
            int dice = random.nextInt(100);
            if (dice < 3 && notBack.isEmpty()) {
                int away = random.nextInt(5) == 0 ? 3_600_000 : random.nextInt(10_000);
                turn(away);
                long backAt = now;
                Arrays.setAll(asksAt, i -> Math.max(asksAt[i], backAt + random.nextInt(backOff(away))));
                IntStream.range(0, waiters).forEach(notBack::add);
            } else if (dice < 6 && notBack.isEmpty()) {
                long byMillis = random.nextInt(20_000_000) - 10_000_000;
                turn(byMillis);
                Arrays.setAll(asksAt, i -> asksAt[i] + byMillis);
                IntStream.range(0, waiters).forEach(notBack::add);
            } else if (dice < 30) {
                acquire(newCaller(), false);
            } else {
                int next = IntStream.range(0, waiters)
                        .boxed()
                        .min(Comparator.comparingLong(i -> asksAt[i]))
                        .orElseThrow();
                turn(Math.max(0, asksAt[next] - now));
                assertThat(acquire("w-" + next, true).reply().get(1))
                        .as("place of waiter %d, seed %d, step %d", next, seed, step)
                        .isEqualTo(next + 1L);
                asksAt[next] = now + LockModel.POLL + random.nextInt(5);
                notBack.remove(next);
            }
        }
    }

    /**
     * A connection is back within half a second, and with it a question; after many failures the next one may be a poll
     * away.
     */
    private static int backOff(int away) {
        return away < 4_000 ? 490 : (int) LockModel.POLL;
    }

    // --- steps ------------------------------------------------------------------------------------------------

    /**
     * A holder, so many waiters, and a release: the first of the dead is granted the lock.
     *
     * @return when that is
     */
    private long leaveToTheDead(int dead) {
        clear();
        acquire(HOLDER, true);
        queueDead(dead);
        turn(1_000);
        assertThat(call(LuaScript.UNLOCK, HOLDER, 0).reply()).isEqualTo(List.of("GRANTED_NEXT"));
        return now;
    }

    private void queueDead(int dead) {
        for (int i = 0; i < dead; i++) {
            acquire("dead-" + i, true);
        }
    }

    private String newCaller() {
        return "caller-" + callers++;
    }

    private Seen acquire(String id, boolean enqueue) {
        return call(LuaScript.ACQUIRE, id, TTL, 0, enqueue ? 1 : 0);
    }

    private static boolean isGranted(Seen seen) {
        return seen.reply().get(0).equals("GRANTED");
    }

    /** Turns the clock, and has the key expire by it. */
    private void turn(long millis) {
        now += millis;
        if (now >= keyGoneAt) {
            redis.command("DEL", KEY);
            keyGoneAt = Long.MAX_VALUE;
        } else if (keyGoneAt < Long.MAX_VALUE) {
            scripts.expireIn(KEY, keyGoneAt - now);
        }
    }

    private Seen call(LuaScript script, String id, Object... more) {
        return call(MOST, script, id, more);
    }

    private Seen call(int most, LuaScript script, String id, Object... more) {
        return callAs(LockModel.settings("lock:client:", most), script, id, more);
    }

    private Seen callAs(String settings, LuaScript script, String id, Object... more) {
        List<String> arguments = new ArrayList<>(List.of(id, settings));
        for (Object argument : more) {
            arguments.add(argument.toString());
        }
        Seen seen = scripts.run(script, KEY, arguments, 1_000 * now);
        keyGoneAt =
                seen.stored().ttl() < 0 ? Long.MAX_VALUE : now + seen.stored().ttl();
        return seen;
    }
}
