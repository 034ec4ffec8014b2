package io.github.lockboot.redis.connection;

import java.nio.ByteBuffer;

import io.github.lockboot.redis.protocol.CommandNumbers;
import io.github.lockboot.redis.protocol.CommandNumbers.ForeignReplyException;
import io.github.lockboot.redis.protocol.Reply;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import org.jspecify.annotations.Nullable;

/**
 * Reads the reply to one command. A reply to another command means that Lettuce has lost count. An exception at the end of a
 * reply makes Lettuce close the socket and send the other commands in flight again on the next one.
 */
final class ReplyOutput extends CommandOutput<byte[], byte[], Reply> {

    private final byte[] number;
    private boolean refused;

    /** @param number of the command */
    ReplyOutput(byte[] number) {
        super(ByteArrayCodec.INSTANCE, null);
        this.number = number;
    }

    @Override
    public void set(@Nullable ByteBuffer line) {
        output = Reply.parse(CommandNumbers.answerTo(number, line));
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
        refused = false; // after a redirection it is sent again, and then it may be answered
    }
}
