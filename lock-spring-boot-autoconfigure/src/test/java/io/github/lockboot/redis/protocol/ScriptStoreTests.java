package io.github.lockboot.redis.protocol;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

import io.github.lockboot.engine.ManualTimer;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.engine.StoreFailure;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;

import static org.assertj.core.api.Assertions.assertThat;

/** When a question expires. */
class ScriptStoreTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final Duration ALMOST = TIMEOUT.minusMillis(1);
    private static final Duration CHECK = TIMEOUT.dividedBy(10);

    private final ManualTimer timer = new ManualTimer();
    private final List<String> keys = new ArrayList<>();
    private boolean connecting;
    private boolean followsRedirections = true;
    private boolean closed;
    private final ScriptStore store = new ScriptStore(
            new Silence(), "lock:", Duration.ofSeconds(2), Duration.ofSeconds(6), 100, 200, timer, TIMEOUT);

    /** A client that gets no answer. */
    private final class Silence implements ScriptStore.Runner {

        @Override
        public CompletableFuture<Reply> run(Consumer<Reply> late, LuaScript script, String key, byte[]... arguments) {
            keys.add(key);
            return new CompletableFuture<>();
        }

        @Override
        public boolean isConnecting() {
            return connecting;
        }

        @Override
        public long epoch() {
            return 0;
        }

        @Override
        public boolean followsRedirections() {
            return followsRedirections;
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    private static void assertExpired(CompletableFuture<Reply> question) {
        assertThat(question)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(TimeoutException.class);
    }

    @Test
    void aQuestionHasTheTimeOfACommand() {
        CompletableFuture<Reply> question = store.show("a");
        timer.tick(ALMOST);
        assertThat(question).isNotDone();
        timer.tick(CHECK);
        assertExpired(question);
    }

    @Test
    void theTimeInWhichTheFirstConnectionIsMadeDoesNotCount() {
        connecting = true;
        CompletableFuture<Reply> first = store.show("a");
        timer.tick(TIMEOUT.multipliedBy(30));
        CompletableFuture<Reply> second = store.show("b");
        timer.tick(CHECK);
        connecting = false;
        timer.tick(ALMOST.minus(CHECK));
        assertThat(first).isNotDone();
        assertThat(second).isNotDone();
        timer.tick(CHECK.multipliedBy(2));
        assertExpired(first);
        assertExpired(second);
    }

    /**
     * Where scripts may publish only on channels of the slot of their key, an echo from that slot would show nothing of
     * grants.
     */
    @Test
    void anEchoComesFromAKeyOfAnySlotAsAGrantDoes() {
        for (int i = 0; i < 10; i++) {
            store.echo("session");
        }
        assertThat(keys)
                .allMatch(key -> key.startsWith("lock:"))
                .extracting(ClusterSlotHashUtil::calculateSlot)
                .doesNotContain(ClusterSlotHashUtil.calculateSlot("lock:client:session"))
                .doesNotHaveDuplicates();
    }

    @Test
    void theCloseFailsWhatIsUnansweredAndWhatIsSentLater() {
        CompletableFuture<Reply> before = store.show("a");
        store.close();
        assertThat(closed).isTrue();
        assertExpired(before);
        assertExpired(store.show("a"));
    }

    @Test
    void aKeyHasANameIfItIsLongerThanThePrefixAndBeginsWithIt() {
        assertThat(store.nameOf("lock:a")).isEqualTo("a");
        assertThat(store.nameOf("lock:")).isNull();
        assertThat(store.nameOf("other:a")).isNull();
    }

    @Test
    void aClientThatDoesNotFollowARedirectionHasFoundNoServer() {
        RuntimeException moved = new RuntimeException("MOVED 3999 127.0.0.1:6381");
        assertThat(store.client().failureOf(moved)).isEqualTo(StoreFailure.NOT_NOW);
        followsRedirections = false;
        assertThat(store.client().failureOf(moved)).isEqualTo(StoreFailure.NOT_SENT);
        assertThat(store.client().failureOf(new RuntimeException("READONLY text")))
                .isEqualTo(StoreFailure.NOT_NOW);
        assertThat(store.client().failureOf(null)).isEqualTo(StoreFailure.UNKNOWN);
    }
}
