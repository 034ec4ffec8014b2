package io.github.lockboot.redis.connection;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

import io.github.lockboot.redis.protocol.CommandNumbers;
import io.github.lockboot.redis.protocol.CommandNumbers.ForeignReplyException;
import io.github.lockboot.redis.protocol.LuaScript;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.SessionCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.serializer.RedisSerializer;

/** Runs scripts through any client of Redis, and blocks until they are answered. */
public final class BlockingScripts {

    private final StringRedisTemplate template;

    public BlockingScripts(RedisConnectionFactory factory) {
        this.template = new StringRedisTemplate(factory);
    }

    /**
     * {@return what the script answered; null if the connection is in a transaction or pipeline}
     *
     * @throws ForeignReplyException if that is the answer to another command; the server has then been asked to close the connection
     */
    @Nullable
    public String run(LuaScript script, String key, byte[]... arguments) {
        byte[] number = CommandNumbers.next();
        Object[] numbered = Arrays.copyOf(arguments, arguments.length + 1, Object[].class);
        numbered[arguments.length] = number;
        return template.execute(new SessionCallback<@Nullable String>() {
            @Override
            public <K, V> @Nullable String execute(RedisOperations<K, V> onOneConnection) {
                String reply = template.execute(
                        script, RedisSerializer.byteArray(), RedisSerializer.string(), List.of(key), numbered);
                if (reply == null) {
                    return null;
                }
                try {
                    return CommandNumbers.answerTo(number, ByteBuffer.wrap(reply.getBytes(StandardCharsets.UTF_8)));
                } catch (ForeignReplyException foreign) {
                    quit(foreign);
                    throw foreign;
                }
            }
        });
    }

    /** Back in its pool, the connection would give the next user wrong replies too. */
    private void quit(ForeignReplyException why) {
        try {
            template.execute((RedisCallback<Object>) connection -> connection.execute("QUIT"));
        } catch (RuntimeException closing) {
            why.addSuppressed(closing);
        }
    }
}
