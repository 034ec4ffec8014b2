package io.github.lockboot.redis.connection;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import io.github.lockboot.engine.Reply;
import io.github.lockboot.engine.StoreFailure.NotConnectedException;
import io.github.lockboot.internal.Failures;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.redis.protocol.LuaScript;
import io.github.lockboot.redis.protocol.LuaScript.ForeignReplyException;
import io.github.lockboot.redis.protocol.RedisFailure;
import io.github.lockboot.redis.protocol.ScriptStore;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.SessionCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.serializer.RedisSerializer;

/**
 * Runs scripts with any client of Redis, on threads of the registry. Scripts on one key run one after another, as on
 * one connection: a {@code cancel} that overtakes the {@code acquire} of its id would leave a lock without a holder.
 */
public final class BlockingScripts implements ScriptStore.Runner {

    private final StringRedisTemplate template;
    private final Executor executor;
    private final boolean followsRedirections;
    private final Map<String, CompletableFuture<Void>> newest = new ConcurrentHashMap<>();

    /** @param followsRedirections as {@link #followsRedirections} */
    BlockingScripts(StringRedisTemplate template, Executor executor, boolean followsRedirections) {
        this.template = template;
        this.executor = executor;
        this.followsRedirections = followsRedirections;
    }

    @Override
    public CompletableFuture<Reply> run(Consumer<Reply> late, LuaScript script, String key, byte[]... arguments) {
        Call reply = new Call();
        CompletableFuture<Void> over = new CompletableFuture<>();
        CompletableFuture<Void> before = newest.put(key, over);
        (before != null ? before : CompletableFuture.completedFuture(null))
                .thenRunAsync(() -> runFor(reply, late, script, key, arguments), executor)
                .whenComplete((none, noThread) -> { // also without a thread: the next script on the key must run
                    if (noThread != null) {
                        Throwable cause = Futures.unwrap(noThread);
                        reply.completeExceptionally(
                                new NotConnectedException("no thread was available to call Redis", cause));
                    }
                    newest.remove(key, over);
                    over.complete(null);
                });
        return reply;
    }

    private void runFor(Call call, Consumer<Reply> late, LuaScript script, String key, byte[]... arguments) {
        if (call.isDone()) {
            return;
        }
        try {
            String answer = answer(template, () -> !call.isDone(), script, key, arguments);
            if (answer == null) {
                throw new ForeignReplyException();
            }
            Reply reply = Reply.parse(answer);
            if (!call.complete(reply)) {
                Failures.runAndLog("when a late reply was received", () -> late.accept(reply));
            }
        } catch (Throwable failure) {
            call.completeExceptionally(failure);
        }
    }

    @Override
    public Throwable whyUnanswered() {
        return new TimeoutException(RedisFailure.NO_ANSWER_OR_NO_CONNECTION);
    }

    @Override
    public boolean followsRedirections() {
        return followsRedirections;
    }

    /** Always: such a client may repeat a command without notice, as Jedis does on a Cluster. */
    @Override
    public boolean mayHaveRepeatedSince(long epoch) {
        return true;
    }

    @Override
    public void close() {}

    /**
     * Runs a script and waits for its reply.
     *
     * @param wanted asked once there is a connection; if it says no, nothing is sent
     * @return the reply; null if it is not wanted, or the connection is in a transaction or pipeline
     * @throws ForeignReplyException if the reply belongs to another command; {@code QUIT} has been sent on the
     *     connection
     */
    public static @Nullable String answer(
            StringRedisTemplate template, BooleanSupplier wanted, LuaScript script, String key, byte[]... arguments) {
        byte[] number = LuaScript.nextNumber();
        Object[] numbered = Arrays.copyOf(arguments, arguments.length + 1, Object[].class);
        numbered[arguments.length] = number;
        return template.execute(new SessionCallback<@Nullable String>() {
            @Override
            public <K, V> @Nullable String execute(RedisOperations<K, V> onOneConnection) {
                if (!wanted.getAsBoolean()) {
                    return null;
                }
                String reply = template.execute(
                        script, RedisSerializer.byteArray(), RedisSerializer.string(), List.of(key), numbered);
                if (reply == null) {
                    return null;
                }
                try {
                    return LuaScript.answerTo(number, ByteBuffer.wrap(reply.getBytes(StandardCharsets.UTF_8)));
                } catch (ForeignReplyException foreign) {
                    quit(template, foreign);
                    throw foreign;
                }
            }
        });
    }

    /** Otherwise the connection would return to its pool and give the next user wrong replies, too. */
    private static void quit(StringRedisTemplate template, ForeignReplyException why) {
        try {
            template.execute((RedisCallback<Object>) connection -> connection.execute("QUIT"));
        } catch (RuntimeException closing) {
            why.addSuppressed(closing);
        }
    }

    /** A client that waits for a connection of its pool does not show that until it gives up. */
    private static final class Call extends CompletableFuture<Reply> {

        @Override
        public boolean completeExceptionally(Throwable failure) {
            return super.completeExceptionally(explained(failure));
        }

        private static Throwable explained(Throwable failure) {
            if (failure instanceof TimeoutException) {
                return new TimeoutException(RedisFailure.NO_ANSWER_OR_NO_CONNECTION);
            }
            boolean exhausted = NestedExceptionUtils.getMostSpecificCause(failure) instanceof NoSuchElementException;
            return exhausted ? new NotConnectedException(RedisFailure.NO_CONNECTION_FREE, failure) : failure;
        }
    }
}
