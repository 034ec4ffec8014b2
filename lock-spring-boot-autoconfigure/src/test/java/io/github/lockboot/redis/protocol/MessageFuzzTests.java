package io.github.lockboot.redis.protocol;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Fuzz;
import io.github.lockboot.Lease;
import io.github.lockboot.LogReader;
import io.github.lockboot.engine.GrantChannel.Push;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.engine.ScriptedEngine;
import io.github.lockboot.engine.ScriptedEngine.Sent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Messages and replies that no script of locks wrote: they are refused, or only make the registry ask Redis. */
class MessageFuzzTests {

    private static final String KEY = "lock:" + ScriptedEngine.NAME;
    private static final long NEWEST = 1_000_000;
    private static final Duration LONG = Duration.ofDays(1);

    private LogReader log;

    @BeforeEach
    void readLog() {
        log = new LogReader();
    }

    @AfterEach
    void nothingInDisorder() {
        assertThat(log.errors()).isEmpty();
        assertThat(log.messages()).allMatch(Fuzz::isOneHonestLine);
        log.close();
    }

    @Test
    void aMessageIsWhatAScriptWouldWriteOrNothing() {
        Fuzz.times(250_000, "messages parsed", fuzz -> {
            String message = message(fuzz, "session-1", KEY);
            Push push = Push.parse(message);
            if (push != null && !written(push).equals(message)) {
                throw new AssertionError("taken for " + push);
            }
        });
    }

    @Test
    void aReplyIsUnderstoodOrRefusedInOneWay() {
        String[] replies = {
            "GRANTED 1700000000000000 30000 2",
            "GRANTED 1 2 3",
            "GRANTED 1700000000000000 30000 2 1600000000000000",
            "QUEUED 1 1700000000000000 29999",
            "QUEUED 1 1700000000000000 29999 session-1",
            "BUSY 5",
            "BUSY 5 session-1",
            "RELEASED",
            "GRANTED_NEXT",
            "NOT_HOLDER",
            "RENEWED 30000 1",
            "KEPT",
            "NOT_HOLDER,RENEWED 30000 1",
            "SHOWN 29999 7 2 7 30000 1800000000000 -1 a-1 6 1000 1800000000000 2 b-1 [1,\"7\"]"
        };
        Fuzz.times(150_000, "replies parsed", fuzz -> {
            String line = fuzz.oneOf(replies);
            for (int changes = fuzz.below(4); changes > 0; changes--) {
                line = fuzz.mutated(line);
            }
            try {
                Reply.parse(line);
            } catch (IllegalStateException strange) {
                if (!Fuzz.isOneHonestLine(String.valueOf(strange.getMessage()))) {
                    throw new AssertionError("forges a line", strange);
                }
            }
        });
    }

    /**
     * The ids are those of this instance, which only readers of the keys in Redis know; one of the other facts is
     * wrong.
     */
    @Test
    void noMessageGivesTakesOrEndsALock() {
        ScriptedEngine scripted = new ScriptedEngine(64);
        CompletableFuture<Lease> holding = scripted.acquireNamed("held", LONG);
        String held = answer(scripted, new Reply.Granted(5, 30_000, 0));
        CompletableFuture<Lease> waiting = scripted.acquire(LONG);
        String queued = answer(scripted, new Reply.Queued(3, NEWEST, 30_000));
        Lease lease = holding.join();
        Fuzz.times(100_000, "messages to an engine", fuzz -> {
            String id = fuzz.oneOf(queued, queued, held, "session-999", "session-", "session", "another-1", "");
            String key = fuzz.oneOf(KEY, KEY, "lock:held", "lock:", "lock", "foreign", KEY + " ");
            Push push = Push.parse(message(fuzz, id, key));
            if (push != null && !isWhatRedisWouldSay(push, queued)) {
                scripted.engine.onPush(push);
            }
            while (scripted.sentCount() > 0) {
                answerAny(scripted.next(), queued, held);
            }
            if (waiting.isDone() || !lease.isValid()) {
                throw new AssertionError("believed " + push);
            }
        });
        assertThat(scripted.engine.inUse()).isEqualTo(4); // two names, two ids
    }

    private static boolean isWhatRedisWouldSay(Push push, String queued) {
        return push.id().equals(queued)
                && push.key().equals(KEY)
                && push.grantNumber() > NEWEST
                && push.leaseMillis() > 0
                && push.leaseMillis() <= ScriptedEngine.TTL.toMillis();
    }

    private static String answer(ScriptedEngine scripted, Reply reply) {
        Sent acquire = scripted.next("acquire");
        acquire.answer(reply);
        return acquire.id();
    }

    /** Whatever it makes the engine send is about one of its own ids, on a key under its prefix. */
    private static void answerAny(Sent sent, String queued, String held) {
        String key = sent.call().key();
        if (sent.script().equals("acquire") && sent.id().equals(queued) && key.equals(KEY)) {
            sent.answer(new Reply.Queued(3, NEWEST, 30_000));
        } else if (sent.script().equals("renew") && sent.id().equals(held)) {
            sent.answer(new Reply.Renewed(30_000, 0));
        } else if (sent.script().equals("unlock")
                && sent.id().startsWith("session-")
                && !sent.id().equals(queued)
                && !sent.id().equals(held)
                && key.startsWith("lock:")) {
            sent.answer(Reply.Plain.NOT_HOLDER);
        } else {
            throw new AssertionError("sends " + sent.script() + " of " + sent.id() + " on " + key);
        }
    }

    private static String written(Push push) {
        return "%s %d %d %d %d %s"
                .formatted(push.id(), push.grantNumber(), push.leaseMillis(), push.waiters(), push.token(), push.key());
    }

    private static String message(Fuzz fuzz, String id, String key) {
        String message = id + " " + number(fuzz, NEWEST) + " " + number(fuzz, 6_000) + " " + number(fuzz, 0) + " "
                + number(fuzz, NEWEST) + " " + key;
        for (int changes = Math.max(0, fuzz.below(5) - 2); changes > 0; changes--) {
            message = fuzz.mutated(message);
        }
        return message;
    }

    private static String number(Fuzz fuzz, long usual) {
        return switch (fuzz.below(8)) {
            case 0 -> fuzz.oneOf("+5", "-5", "007", "1e3", "0x10", "", "-0", "\u0661", "1.5", "nan", "1_0");
            case 1 ->
                fuzz.oneOf("9223372036854775807", "9223372036854775808", "999999999999999999", "9007199254740993");
            case 2 -> String.valueOf(fuzz.random().nextLong());
            case 3 -> "0";
            default -> String.valueOf(Math.max(0, usual + fuzz.below(20_000) - 10_000));
        };
    }
}
