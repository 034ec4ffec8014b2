package io.github.lockboot.redis.protocol;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

/**
 * Numbers that show which command a reply belongs to. A script gets its number as the last argument, and its reply begins with
 * it. Redis itself does not say which command it answers: clients count replies, and a client that has lost count gives every
 * later command the reply to another one.
 *
 * <p>A process does not use a number twice. The first is random, because a proxy may share one connection among processes.
 */
public final class CommandNumbers {

    /** All have the same number of digits. */
    private static final AtomicLong LAST =
            new AtomicLong(ThreadLocalRandom.current().nextLong(1_000_000_000_000L, 5_000_000_000_000L));

    private CommandNumbers() {}

    /** {@return the digits of a new number} */
    public static byte[] next() {
        return Long.toString(LAST.incrementAndGet()).getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * {@return what follows the number in the reply}
     *
     * @throws ForeignReplyException if it is not the reply to the command of this number
     */
    public static String answerTo(byte[] number, @Nullable ByteBuffer reply) {
        int digits = number.length;
        if (reply == null
                || reply.remaining() <= digits
                || !reply.slice(reply.position(), digits).equals(ByteBuffer.wrap(number))
                || reply.get(reply.position() + digits) != ' ') {
            throw new ForeignReplyException();
        }
        byte[] answer = new byte[reply.remaining() - digits - 1];
        reply.get(reply.position() + digits + 1, answer);
        return new String(answer, StandardCharsets.ISO_8859_1);
    }

    /** Says that a command got the reply to another one. It may have run. */
    public static final class ForeignReplyException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        public ForeignReplyException() {
            super("Redis, its client or what lies between gave this command the reply to another one");
        }
    }
}
