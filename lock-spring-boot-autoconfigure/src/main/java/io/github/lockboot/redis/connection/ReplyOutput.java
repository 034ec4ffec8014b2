package io.github.lockboot.redis.connection;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import io.github.lockboot.redis.protocol.CommandNumbers;
import io.github.lockboot.redis.protocol.CommandNumbers.ForeignReplyException;
import io.github.lockboot.redis.protocol.Reply;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import org.jspecify.annotations.Nullable;

/**
 * Reads the reply to one command. When another comes, Lettuce has lost count: an exception at the end of a reply has Lettuce close the
 * socket. The other commands in flight there are sent again on the next.
 */
final class ReplyOutput extends CommandOutput<byte[], byte[], Reply> {

    private final String number;
    private boolean refused;

    /** @param number of the command */
    ReplyOutput(String number) {
        super(ByteArrayCodec.INSTANCE, null);
        this.number = number;
    }

    @Override
    public void set(@Nullable ByteBuffer line) {
        output = Reply.parse(CommandNumbers.answerTo(number, line == null ? null : text(line)));
    }

    private static String text(ByteBuffer line) {
        byte[] bytes = new byte[line.remaining()];
        line.get(bytes);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    /** An error of Redis has no number. */
    @Override
    public void setError(ByteBuffer error) {
        refused = true;
        super.setError(error);
    }

    @Override
    public void complete(int depth) {
        if (depth == 0 && output == null && !refused) {
            throw new ForeignReplyException();
        }
        refused = false; // sent again, after a redirection, it may be answered
    }
}
