package io.github.lockboot.redis.protocol;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

/**
 * Tell the reply to one command from those to others. A number is sent as the last argument of a script, and the reply begins with it.
 * Redis itself does not say which command a reply answers. Clients count, and one that has lost count gives each command the reply to
 * another from then on.
 *
 * <p>A number is not used twice in a process. The first is random, because something between here and Redis may have several
 * processes share a connection.
 */
public final class CommandNumbers {

    /** All have as many digits. */
    private static final AtomicLong LAST =
            new AtomicLong(ThreadLocalRandom.current().nextLong(1_000_000_000_000L, 5_000_000_000_000L));

    private CommandNumbers() {}

    public static String next() {
        return Long.toString(LAST.incrementAndGet());
    }

    /**
     * {@return what follows the number in the reply}
     *
     * @throws ForeignReplyException if it is not the reply to the command of this number
     */
    public static String answerTo(String number, @Nullable String reply) {
        int end = number.length();
        if (reply == null || reply.length() <= end || reply.charAt(end) != ' ' || !reply.startsWith(number)) {
            throw new ForeignReplyException();
        }
        return reply.substring(end + 1);
    }

    /** The command may have run; its own reply went elsewhere. */
    public static final class ForeignReplyException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        public ForeignReplyException() {
            super("Redis, its client or what lies between gave this command the reply to another one");
        }
    }
}
