package io.github.lockboot.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LogVolume;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.redis.connection.PubSubGrantChannel;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The registry logs one line when Redis goes away, and one when it is back, and a close ends whatever Redis does. Redis
 * is there when a test begins.
 */
public abstract class OutageLogContract {

    private static final Duration AWAY = Duration.ofSeconds(12);
    private static final Duration CLOSE = Duration.ofSeconds(10);
    private static final Duration BACK = Duration.ofSeconds(40);

    /** {@return a new factory, which is started, as the application has it} */
    protected abstract RedisConnectionFactory connectionFactory();

    protected abstract void goAway();

    protected abstract void comeBack();

    /** Whether the client shows that the channel is cut, and does not subscribe again without a word. */
    protected boolean showsCut() {
        return true;
    }

    /** Of everything in the process, the client included. */
    protected long mostBytes() {
        return 10_000;
    }

    protected RedisLockRegistry.Builder settings(RedisLockRegistry.Builder builder) {
        return builder;
    }

    @Test
    void anOutageIsTwoLinesAndTheCloseAfterItEnds() {
        try (LogVolume log = new LogVolume();
                Application application = new Application()) {
            goAway();
            long before = log.bytes();
            Actor.pass(AWAY);
            Figures.report("%s: %d bytes of log while Redis is away", getClass().getSimpleName(), log.bytes() - before);
            assertThat(log.bytes()).as("%s", log).isLessThan(mostBytes());
            comeBack();
            application.awaitLive(log);
            application.end();
            assertThat(log.bytes()).as("%s", log).isLessThan(mostBytes());
            if (showsCut()) {
                List<String> lines = outageLines(log);
                assertThat(lines).hasSize(2);
                assertThat(lines.get(0)).startsWith("WARN Locks are unavailable: Redis did not answer or refused: ");
                assertThat(lines.get(1)).startsWith("INFO Locks work again after ");
                assertThat(channelLines(log)).as("nobody polls").isEmpty();
            }
        }
    }

    @Test
    void theCloseEndsWhileRedisIsAway() {
        try (LogVolume log = new LogVolume();
                Application application = new Application()) {
            goAway();
            Actor.pass(Duration.ofSeconds(3));
            try {
                application.end();
            } finally {
                comeBack();
            }
            // Netty logs two long traces if its threads end while a connection is being opened.
            assertThat(log.bytes()).as("%s", log).isLessThan(mostBytes() + 20_000);
        }
    }

    private static List<String> outageLines(LogVolume log) {
        return log.lines(LockRegistry.class.getName());
    }

    public static List<String> channelLines(LogVolume log) {
        return log.lines(PubSubGrantChannel.class.getName());
    }

    /** A factory and a registry, of which the channel is live. */
    protected final class Application implements AutoCloseable {

        private final CompletableFuture<Void> closed = new CompletableFuture<>();
        private final RedisConnectionFactory factory = connectionFactory();
        private final RedisLockRegistry registry =
                settings(RedisLockRegistry.builder(factory)).build();

        Application() {
            Await.until("it can lock", () -> TestRegistries.canLock(registry, "first"));
            registry.connect();
            Await.until("the channel is live", () -> GrantChannels.isLive(registry));
        }

        void awaitLive(LogVolume log) {
            Await.until(
                    BACK,
                    () -> TestRegistries.canLock(registry, "again") && GrantChannels.isLive(registry),
                    () -> "the channel is not live again after " + log);
            if (showsCut()) {
                Await.until(BACK, () -> outageLines(log).size() > 1, () -> "the end is not logged: " + log);
            }
        }

        /** As the context does: first the registry, then the factory. */
        void end() {
            if (closed.isDone()) {
                return;
            }
            Thread closing = new Thread(() -> {
                try {
                    registry.close();
                    if (factory instanceof DisposableBean bean) {
                        bean.destroy();
                    }
                    closed.complete(null);
                } catch (Throwable failure) {
                    closed.completeExceptionally(failure);
                }
            });
            closing.setDaemon(true);
            closing.start();
            try {
                closed.get(CLOSE.toMillis(), TimeUnit.MILLISECONDS);
            } catch (TimeoutException hangs) {
                throw new AssertionError("close() hangs in " + List.of(closing.getStackTrace()), hangs);
            } catch (ExecutionException | InterruptedException failed) {
                throw new AssertionError("close() failed", failed);
            }
        }

        @Override
        public void close() {
            end();
        }
    }
}
