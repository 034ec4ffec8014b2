package io.github.lockboot.redis.protocol;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.LockStore.Grant;
import io.github.lockboot.engine.ManualTimer;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What the renewal of several permits of a lock costs, in commands and bytes, counted by Redis. */
class PermitRenewalCountTests {

    private static final int FEW = 10;
    private static final int MANY = 80;
    private static final long TTL = 30_000;

    private static RedisServer server;
    private static RedisProbe redis;

    private final ScriptStore store = new ScriptStore(
            new Probed(),
            "lock:",
            Duration.ofSeconds(2),
            Duration.ofSeconds(6),
            100,
            200,
            new ManualTimer(),
            Duration.ofSeconds(2));

    private int answered;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        redis = server.probe();
        for (LuaScript script : List.of(LuaScript.ACQUIRE, LuaScript.RENEW)) {
            redis.command("SCRIPT", "LOAD", script.getScriptAsString());
        }
    }

    @AfterAll
    static void stop() {
        redis.close();
        server.close();
    }

    private final class Probed implements ScriptStore.Runner {

        @Override
        public CompletableFuture<Reply> run(Consumer<Reply> late, LuaScript script, String key, byte[]... arguments) {
            byte[] number = LuaScript.nextNumber();
            List<String> words = new ArrayList<>(List.of("EVALSHA", script.getSha1(), "1", key));
            Stream.of(arguments).map(Probed::text).forEach(words::add);
            words.add(text(number));
            byte[] line = ((String) redis.command(words.toArray(String[]::new))).getBytes(StandardCharsets.ISO_8859_1);
            answered = line.length;
            return CompletableFuture.completedFuture(Reply.parse(LuaScript.answerTo(number, ByteBuffer.wrap(line))));
        }

        private static String text(byte[] bytes) {
            return new String(bytes, StandardCharsets.UTF_8);
        }

        @Override
        public long epoch() {
            return 0;
        }

        @Override
        public void close() {}
    }

    /** @param stored how long the text of the lock is */
    private record Cost(long commands, long reads, long writes, long sent, long stored, long answered) {}

    private Cost costOfRenewing(int permits) {
        redis.command("FLUSHALL");
        List<Grant> held = new ArrayList<>();
        for (int i = 0; i < permits; i++) {
            String id = "0123456789abcdef0123456789abcdef-1000" + (100 + i) + ".0123456789abcdef";
            Reply.Granted owner = (Reply.Granted) store.acquire("k", id, Terms.limited(permits, TTL, true), true, null)
                    .join();
            held.add(new Grant(id, owner.grantNumber(), TTL));
        }
        redis.command("CONFIG", "RESETSTAT");
        List<Reply> replies = ((Reply.All) store.renew("k", held, late -> {}).join()).replies();
        assertThat(replies).hasSize(permits).allMatch(Reply.Renewed.class::isInstance);
        var calls = redis.commandCalls();
        return new Cost(
                calls.get("evalsha"),
                calls.get("get"),
                calls.get("set"),
                Long.parseLong(redis.info("stats").get("total_net_input_bytes")),
                (Long) redis.command("STRLEN", "lock:k"),
                answered);
    }

    @Test
    void aRoundOfRenewalsOfThePermitsOfAnInstanceGrowsWithTheirNumberAndNotWithItsSquare() {
        Cost few = costOfRenewing(FEW);
        Cost many = costOfRenewing(MANY);
        for (Cost each : List.of(few, many)) {
            assertThat(each.commands).isEqualTo(1);
            assertThat(each.reads).isEqualTo(1);
            assertThat(each.writes).isEqualTo(1);
        }
        int ratio = MANY / FEW;
        assertThat(many.sent).isLessThanOrEqualTo(ratio * few.sent);
        assertThat(many.stored).isLessThanOrEqualTo(ratio * few.stored);
        assertThat(many.answered).isLessThanOrEqualTo(ratio * few.answered);
    }
}
