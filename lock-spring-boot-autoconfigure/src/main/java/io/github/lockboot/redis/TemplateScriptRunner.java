package io.github.lockboot.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.serializer.RedisSerializer;

/** Runs scripts through a client that only blocks, on threads of the registry. */
final class TemplateScriptRunner implements ScriptRunner {

    private final StringRedisTemplate template;
    private final Expiry expiry;
    private final Executor executor;

    TemplateScriptRunner(RedisConnectionFactory factory, Expiry expiry, Executor executor) {
        this.template = new StringRedisTemplate(factory);
        this.expiry = expiry;
        this.executor = executor;
    }

    @Override
    public CompletableFuture<Reply> run(Call call) {
        CompletableFuture<Reply> reply = new CompletableFuture<>();
        executor.execute(() -> {
            if (!reply.isDone()) {
                runNow(call, reply);
            }
        });
        expiry.watch(reply);
        return reply;
    }

    private void runNow(Call call, CompletableFuture<Reply> reply) {
        try {
            String key = new String(call.key(), StandardCharsets.UTF_8);
            Object[] arguments = call.arguments();
            String line = template.execute(
                    call.script(), RedisSerializer.byteArray(), RedisSerializer.string(), List.of(key), arguments);
            reply.complete(Reply.parse(line));
        } catch (RuntimeException failure) {
            reply.completeExceptionally(failure);
        }
    }

    /** Such a client reports a broken connection instead of sending a command again. */
    @Override
    public long epoch() {
        return 0;
    }

    @Override
    public void close() {}
}
