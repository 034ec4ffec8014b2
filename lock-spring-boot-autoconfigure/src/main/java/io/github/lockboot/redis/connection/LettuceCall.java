package io.github.lockboot.redis.connection;

import java.util.concurrent.CompletableFuture;

import io.github.lockboot.internal.Futures;
import io.github.lockboot.redis.protocol.CommandNumbers;
import io.github.lockboot.redis.protocol.RedisFailure.NotConnectedException;
import io.github.lockboot.redis.protocol.Reply;
import io.github.lockboot.redis.protocol.ScriptRunner.Call;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;

/**
 * A call on its way to Redis. When it expires it is taken back from the runner, where it waits for a connection, or from Lettuce:
 * what has not been sent by then is never sent.
 */
final class LettuceCall extends CompletableFuture<Reply> {

    private final Call call;
    private final LettuceScriptRunner runner;
    private final byte[] number = CommandNumbers.next();
    private volatile @Nullable RedisFuture<?> command;

    LettuceCall(Call call, LettuceScriptRunner runner) {
        this.call = call;
        this.runner = runner;
    }

    byte[] key() {
        return call.key();
    }

    /** Sends the digest of the script only; the whole script where Redis does not know it. */
    void sendOn(LettuceLink link) {
        if (isDone()) {
            return;
        }
        dispatch(link, CommandType.EVALSHA, call.script().getSha1()).whenComplete((reply, failure) -> {
            if (failure != null && Futures.unwrap(failure) instanceof RedisNoScriptException) {
                dispatch(link, CommandType.EVAL, call.script().getScriptAsString())
                        .whenComplete((second, again) -> onAnswer(link, second, again));
            } else {
                onAnswer(link, reply, failure);
            }
        });
    }

    private RedisFuture<Reply> dispatch(LettuceLink link, CommandType type, String script) {
        CommandArgs<byte[], byte[]> args =
                new CommandArgs<>(ByteArrayCodec.INSTANCE).add(script).add(1).addKey(call.key());
        for (byte[] argument : call.arguments()) {
            args.addValue(argument);
        }
        args.add(number);
        RedisFuture<Reply> dispatched = link.commands().dispatch(type, new ReplyOutput(number), args);
        command = dispatched;
        if (isDone()) {
            takeBack(); // it expired while it was sent
        }
        return dispatched;
    }

    private void onAnswer(LettuceLink link, @Nullable Reply reply, @Nullable Throwable failure) {
        if (reply != null) {
            complete(reply);
        } else {
            Throwable reason = failure != null ? failure : new IllegalStateException("no reply");
            runner.onFailure(link, reason);
            completeExceptionally(reason);
        }
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
        boolean notSent = command == null && !(failure instanceof NotConnectedException);
        boolean first = super.completeExceptionally(
                notSent ? new NotConnectedException("no connection to Redis", failure) : failure);
        if (first) {
            takeBack();
        }
        return first;
    }

    private void takeBack() {
        RedisFuture<?> sent = command;
        if (sent == null) {
            runner.onSilence(this);
        } else if (!sent.isDone()) {
            sent.cancel(true);
            runner.onSilence(this);
        }
    }
}
