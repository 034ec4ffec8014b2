package io.github.lockboot.redis.protocol;

import java.util.List;
import java.util.Map;

import io.github.lockboot.redis.protocol.ClockedScripts.Seen;
import io.github.lockboot.redis.protocol.ClockedScripts.Stored;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/** What must be true of any sequence of calls on one key, whatever a model of the protocol says; it only looks at Redis. */
final class ScriptInvariants {

    private static final long LOCAL_TOKENS = 65_536;

    private Map<String, String> fields = Map.of();
    private @Nullable Seen last;
    private boolean persisted;
    private boolean clockWentBack;
    private String owner = "";
    private long newest;
    private long mayBeUsed;

    /** Checks what a call did. */
    void called(LuaScript script, List<String> arguments, Seen seen) {
        String status = (String) seen.reply().get(0);
        Stored stored = seen.stored();
        assertThat(seen.messages()).as("messages of one call").hasSizeLessThan(2);
        if (stored.type().equals("hash")) {
            persisted = persisted && stored.fields().equals(fields) && stored.ttl() < 0;
            assertThat(persisted || stored.ttl() >= 0).as("our key has a TTL").isTrue();
        }
        if (script == LuaScript.UNLOCK
                && status.equals("NOT_OWNER")
                && !arguments.get(5).isEmpty()) {
            assertThat(isQueued(arguments.get(5), stored.fields()))
                    .as("a refused unlock queues no next id")
                    .isLessThanOrEqualTo(isQueued(arguments.get(5), fields));
        }
        if (status.equals("COMPLETED")) {
            assertThat(stored.fields())
                    .as("no owner and no waiter is left after a completion")
                    .doesNotContainKeys("owner", "queue");
        }
        if (status.equals("RELEASED")
                || status.equals("COMPLETED")
                || status.equals("HANDED_OVER")
                || status.equals("OWNER")
                || status.equals("QUEUED")) {
            tokensUsed(script, arguments);
        } else if (status.equals("GIVEN_AWAY") && owner.equals(arguments.get(0))) {
            mayBeUsed = newest;
        }
        granted(stored.fields());
        fields = stored.fields();
        last = seen;
    }

    /** Checks that a call right after its equal changed nothing, but for when waiters count as last seen. */
    void calledAgain(LuaScript script, Seen seen) {
        assertThat(last).isNotNull();
        String status = (String) last.reply().get(0);
        assertThat(withoutLastSeen(seen)).as("state after a duplicate").isEqualTo(withoutLastSeen(last));
        if (script == LuaScript.ACQUIRE || script == LuaScript.RENEW) {
            assertThat(seen.reply()).as("reply to a duplicate").isEqualTo(last.reply());
        } else {
            assertThat(seen.reply())
                    .as("reply to a duplicate, after %s", status)
                    .isEqualTo(List.of(script == LuaScript.CANCEL ? "UNKNOWN" : "NOT_OWNER"));
        }
    }

    void clockWentBack() {
        clockWentBack = true;
        if (fields.isEmpty()) {
            newest = mayBeUsed = 0;
        }
    }

    void persisted() {
        persisted = true;
    }

    void expired() {
        fields = Map.of();
        owner = "";
        persisted = false;
    }

    /** The state was removed from outside; only the clock keeps tokens growing now. */
    void destroyed() {
        expired();
        mayBeUsed = newest;
        if (clockWentBack) {
            newest = mayBeUsed = 0;
        }
    }

    private void tokensUsed(LuaScript script, List<String> arguments) {
        if (script == LuaScript.UNLOCK || script == LuaScript.COMPLETE) {
            newest = Math.max(newest, Long.parseLong(arguments.get(4)));
            mayBeUsed = owner.equals(arguments.get(0)) ? newest : Math.max(mayBeUsed, newest);
        }
    }

    private void granted(Map<String, String> after) {
        String holder = after.getOrDefault("owner", "");
        long fence = Long.parseLong(after.getOrDefault("fence", "0"));
        if (!holder.isEmpty()
                && (!holder.equals(owner) || !fields.getOrDefault("fence", "").equals(after.get("fence")))) {
            assertThat(fence).as("token of a new grant").isGreaterThan(mayBeUsed);
            newest = fence;
            mayBeUsed = fence + LOCAL_TOKENS - 1;
        }
        owner = holder;
    }

    private static String withoutLastSeen(Seen seen) {
        return seen.stored().fields().toString().replaceAll(",\\d+]", "]");
    }

    private static int isQueued(String id, Map<String, String> fields) {
        return fields.getOrDefault("queue", "").contains("[\"" + id + "\",") ? 1 : 0;
    }
}
