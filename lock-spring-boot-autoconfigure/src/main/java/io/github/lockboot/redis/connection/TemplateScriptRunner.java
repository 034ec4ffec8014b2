package io.github.lockboot.redis.connection;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockboot.redis.protocol.CommandNumbers.ForeignReplyException;
import io.github.lockboot.redis.protocol.RedisFailure.NotConnectedException;
import io.github.lockboot.redis.protocol.Reply;
import io.github.lockboot.redis.protocol.ScriptRunner;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Runs scripts through a client that only blocks, on threads of the registry. Scripts on one key run one after another, as they
 * would on one connection: a {@code cancel} that overtakes the {@code acquire} of its id would leave a lock without a holder.
 */
final class TemplateScriptRunner implements ScriptRunner {

    private final BlockingScripts scripts;
    private final CommandTimeouts timeouts;
    private final Executor executor;
    private final Map<String, CompletableFuture<Void>> newest = new ConcurrentHashMap<>();
    private final AtomicLong epoch = new AtomicLong();

    TemplateScriptRunner(RedisConnectionFactory factory, CommandTimeouts timeouts, Executor executor) {
        this.scripts = new BlockingScripts(factory);
        this.timeouts = timeouts;
        this.executor = executor;
    }

    @Override
    public CompletableFuture<Reply> run(Call call) {
        CompletableFuture<Reply> reply = new CompletableFuture<>();
        String key = new String(call.key(), StandardCharsets.UTF_8);
        CompletableFuture<Void> over = new CompletableFuture<>();
        CompletableFuture<Void> before = newest.put(key, over);
        Runnable turn = () -> {
            try {
                if (!reply.isDone()) {
                    runNow(call, key, reply);
                }
            } finally {
                newest.remove(key, over);
                over.complete(null);
            }
        };
        if (before == null) {
            begin(turn, reply);
        } else {
            before.thenRun(() -> begin(turn, reply));
        }
        timeouts.watch(reply);
        return reply;
    }

    /** Without a thread the script fails, and the next one on that key has its turn. */
    private void begin(Runnable turn, CompletableFuture<Reply> reply) {
        try {
            executor.execute(turn);
        } catch (Throwable noThread) {
            reply.completeExceptionally(new NotConnectedException("no thread to ask Redis on", noThread));
            turn.run();
        }
    }

    private void runNow(Call call, String key, CompletableFuture<Reply> reply) {
        try {
            String answer = scripts.run(call.script(), key, call.arguments());
            if (answer == null) {
                throw new ForeignReplyException();
            }
            reply.complete(Reply.parse(answer));
        } catch (Throwable failure) {
            reply.completeExceptionally(failure);
        }
    }

    /** New each time, because such a client may send a command again without notice, as Jedis does on a Cluster. */
    @Override
    public long epoch() {
        return epoch.incrementAndGet();
    }

    @Override
    public void close() {
        timeouts.close();
    }
}
