package io.github.lockboot.redis.protocol;

import java.util.ArrayList;
import java.util.List;

import io.github.lockboot.fixture.StoredLock.Waiter;
import io.github.lockboot.redis.protocol.ClockedScripts.Seen;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Single cases under a clock of ours, each of which went wrong once. */
class ScriptClockTests extends OnClockedScripts {

    private static final long SECOND = 1_000_000;
    private static final String KEY = "lock:clock";

    private long micros = 1_800_000_000 * SECOND;

    @Test
    void aNextIdThatIsQueuedAlreadyCountsAsSeen() {
        call(LuaScript.ACQUIRE, "a-1", 30_000, 0, 1);
        call(LuaScript.ACQUIRE, "b-1", 30_000, 0, 1);
        call(LuaScript.ACQUIRE, "a-2", 30_000, 0, 1);
        micros += 2 * SECOND;
        Seen unlocked = call(LuaScript.UNLOCK, "a-1", 0, "a-2", 30_000, 0);
        assertThat(unlocked.reply()).startsWith("QUEUED", 1L);
        assertThat(unlocked.stored().lock().queue()).containsExactly(new Waiter("a-2", 30_000, micros / 1000, 0));
    }

    @Test
    void aTokenMayNotComeAgainWhenTheKeyOfAnUnheardOfHolderExpires() {
        call(LuaScript.ACQUIRE, "a-1", 1_000, 0, 1);
        long granted = micros;
        micros -= 10 * SECOND;
        Seen held = call(LuaScript.ACQUIRE, "a-1", 1_000, 0, 1);
        long lastLocalToken = granted + 65_535;
        assertThat(micros + 1_000 * held.stored().ttl())
                .as("when the key is gone and only the clock is left")
                .isGreaterThan(lastLocalToken);
    }

    @Test
    void aWaiterSeenInTheFutureIsWrittenDownAsSeenOnePollAgo() {
        call(LuaScript.ACQUIRE, "a-1", 30_000, 0, 1);
        micros += 5 * SECOND;
        call(LuaScript.ACQUIRE, "b-1", 30_000, 0, 1);
        micros -= 1 * SECOND;
        Seen asked = call(LuaScript.ACQUIRE, "c-1", 30_000, 0, 0);
        assertThat(asked.stored().lock().queue()).containsExactly(new Waiter("b-1", 30_000, micros / 1000 - 2_000, 0));
    }

    private Seen call(LuaScript script, String id, Object... more) {
        List<String> arguments = new ArrayList<>(List.of(id, LockModel.settings("lock:client:", 1_000)));
        for (Object argument : more) {
            arguments.add(argument.toString());
        }
        return scripts.run(script, KEY, arguments, micros);
    }
}
