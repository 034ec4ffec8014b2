package io.github.lockboot.redis.protocol;

import java.util.List;
import java.util.Set;

import io.github.lockboot.fixture.StoredLock;
import io.github.lockboot.redis.protocol.ClockedScripts.Seen;
import io.github.lockboot.redis.protocol.ClockedScripts.Stored;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What must be true of any sequence of calls on one key, whatever a model of the protocol says; it only looks at Redis.
 */
final class ScriptInvariants {

    private static final long LOCAL_TOKENS = 65_536;
    private static final long PERMIT_TOKENS = 64;

    /** After these nothing is known of tokens. */
    private static final Set<String> REFUSALS = Set.of("NOT_HOLDER", "KEPT", "BUSY");

    /** A holder as it is stored. */
    private record Holder(String id, int permits, long fence) {

        /** @param from whose hold the script may have given to the other */
        boolean isOrBecame(String other, String from) {
            return id.equals(other) || id.equals(from) || other.equals("kept-" + id);
        }
    }

    private final int mostHolders;
    private Stored before = new Stored("", -2);
    private @Nullable Seen last;
    private boolean persisted;
    private boolean clockWentBack;
    private List<Holder> holders = List.of();

    /** The newest token that a holder is known to have been able to use. */
    private long newest;

    /**
     * The newest that an exclusive or limited holder may have used, also by itself; what readers may have as theirs.
     */
    private long mayBeUsed;

    ScriptInvariants(int mostHolders) {
        this.mostHolders = mostHolders;
    }

    /** Checks what a call did. */
    void called(LuaScript script, List<String> arguments, Seen seen) {
        String status = (String) seen.reply().get(0);
        Stored stored = seen.stored();
        if (stored.lock().format() > 0) {
            persisted = persisted && stored.text().equals(before.text()) && stored.ttl() < 0;
            assertThat(persisted || stored.ttl() >= 0).as("our key has a TTL").isTrue();
        }
        String next = script == LuaScript.UNLOCK && arguments.size() > 3 ? arguments.get(3) : "";
        if (status.equals("NOT_HOLDER") && !next.isEmpty()) {
            assertThat(isQueued(next, stored.lock()))
                    .as("a refused unlock queues no next id")
                    .isLessThanOrEqualTo(isQueued(next, before.lock()));
        }
        if (!REFUSALS.contains(status)) {
            tokensUsed(script, arguments);
        }
        List<Holder> after = holdersIn(stored.lock());
        boolean transfers = script == LuaScript.ACQUIRE && arguments.size() > 5 && !isDowngrade(script, arguments);
        granted(after, transfers ? arguments.get(0) : "", transfers ? arguments.get(5) : "");
        if (transfers) {
            transferred(after, arguments, status);
        }
        readers(after, script == LuaScript.UNLOCK ? next : arguments.get(0), seen);
        holders = after;
        before = stored;
        last = seen;
    }

    /** Checks that a call right after its equal changed nothing, but for when waiters count as last seen. */
    void calledAgain(LuaScript script, Seen seen) {
        assertThat(last).isNotNull();
        String status = (String) last.reply().get(0);
        assertThat(withoutLastSeen(seen)).as("state after a duplicate").isEqualTo(withoutLastSeen(last));
        if (script != LuaScript.UNLOCK) {
            assertThat(seen.reply()).as("reply to a duplicate").isEqualTo(last.reply());
        } else {
            assertThat(seen.reply())
                    .as("reply to a duplicate, after %s", status)
                    .isEqualTo(List.of("NOT_HOLDER"));
        }
    }

    void clockWentBack() {
        clockWentBack = true;
        if (before.text().isEmpty()) {
            newest = mayBeUsed = 0;
        }
    }

    void persisted() {
        persisted = true;
    }

    void expired() {
        before = new Stored("", -2);
        holders = List.of();
        persisted = false;
    }

    /**
     * The state was removed from outside; only the clock keeps tokens growing now. Permits granted at a time are ahead
     * of it.
     */
    void destroyed(long micros) {
        expired();
        newest = mayBeUsed = clockWentBack ? 0 : Math.min(newest, micros);
    }

    private void tokensUsed(LuaScript script, List<String> arguments) {
        boolean exclusive = isExclusive(arguments.get(0));
        if (script == LuaScript.UNLOCK || (isDowngrade(script, arguments) && exclusive)) {
            newest = Math.max(newest, Long.parseLong(arguments.get(script == LuaScript.UNLOCK ? 2 : 7)));
            mayBeUsed = exclusive ? newest : mayBeUsed;
        }
    }

    private static boolean isDowngrade(LuaScript script, List<String> arguments) {
        return script == LuaScript.ACQUIRE
                && arguments.size() > 5
                && arguments.get(5).equals(arguments.get(0));
    }

    private boolean isExclusive(String id) {
        return holders.stream().anyMatch(holder -> holder.permits == 0 && holder.id.equals(id));
    }

    /** The caller has that grant, if it is there, and nobody else has it; the others have theirs. */
    private void transferred(List<Holder> after, List<String> arguments, String status) {
        long number = Long.parseLong(arguments.get(6));
        assertThat(after.stream().filter(each -> each.id.equals(arguments.get(0)) && each.fence == number))
                .as("whether %s has the hold", arguments.get(0))
                .hasSize(status.equals("GRANTED") ? 1 : 0);
        for (Holder each : after) {
            assertThat(after.stream().filter(other -> other.fence == each.fence))
                    .as("who has the grant of %s", each)
                    .hasSize(1);
        }
    }

    /**
     * Who holds beside whom, and the tokens of who is new.
     *
     * @param taker an id that may have been given the hold of another
     * @param from that other
     */
    private void granted(List<Holder> after, String taker, String from) {
        assertThat(after.stream().map(holder -> Integer.signum(holder.permits)).distinct())
                .as("kinds beside each other")
                .hasSizeLessThan(2);
        assertThat(after.stream().filter(holder -> holder.permits == 0))
                .as("exclusive holders")
                .hasSizeLessThan(2);
        assertThat(after).as("holders").hasSizeLessThanOrEqualTo(mostHolders);
        for (Holder holder : after) {
            if (holder.permits > 0) {
                assertThat(after).as("holders among which %s is", holder).hasSizeLessThanOrEqualTo(holder.permits);
            }
            if (holders.stream()
                    .noneMatch(each -> each.fence == holder.fence
                            && each.isOrBecame(holder.id, holder.id.equals(taker) ? from : ""))) {
                assertThat(holder.fence).as("fence of a new grant").isGreaterThan(Math.max(newest, mayBeUsed));
                newest = holder.fence + (holder.permits > 0 ? PERMIT_TOKENS - 1 : 0);
                if (holder.permits >= 0) {
                    mayBeUsed = holder.fence + (holder.permits == 0 ? LOCAL_TOKENS : PERMIT_TOKENS) - 1;
                }
            }
        }
    }

    /**
     * A reader is given a token that no exclusive or limited holder after it can have, and all of them before it could
     * not exceed.
     */
    private void readers(List<Holder> after, String caller, Seen seen) {
        for (Holder holder : after) {
            if (holder.permits < 0) {
                if (seen.reply().get(0).equals("GRANTED") && holder.id.equals(caller)) {
                    assertReadersToken(
                            holder, (Long) seen.reply().get(seen.reply().size() > 4 ? 4 : 1));
                }
                for (String message : seen.messages()) {
                    String[] words = message.split(" ");
                    if (words[1].equals(holder.id) && !words[2].equals("0")) {
                        assertReadersToken(holder, Long.parseLong(words[5]));
                    }
                }
            }
        }
    }

    private void assertReadersToken(Holder reader, long token) {
        assertThat(token).as("token of %s", reader).isBetween(mayBeUsed, newest);
    }

    private static List<Holder> holdersIn(StoredLock lock) {
        if (lock.owner() != null) {
            assertThat(lock.holders()).hasSize(1);
            assertThat(lock.token()).as("token beside an exclusive holder").isZero();
        }
        return lock.holders().stream()
                .map(holder ->
                        new Holder(holder.id(), holder.kind(), holder.kind() == 0 ? lock.fence() : holder.fence()))
                .toList();
    }

    private static StoredLock withoutLastSeen(Seen seen) {
        StoredLock lock = seen.stored().lock();
        return lock.withQueue(
                lock.swept(),
                lock.queue().stream()
                        .map(waiter ->
                                new StoredLock.Waiter(waiter.id(), waiter.ttl(), 0, waiter.kind(), waiter.passedOver()))
                        .toList());
    }

    private static int isQueued(String id, StoredLock lock) {
        return lock.queue().stream().anyMatch(waiter -> waiter.id().equals(id)) ? 1 : 0;
    }
}
