package io.github.lockboot.redis.protocol;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockboot.engine.LockStore;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.core.script.DefaultRedisScript;

/**
 * A script of this library. Its last argument is the number of the command. Its reply is one line: that number, a
 * status word, then numbers.
 *
 * <p>The number shows to which command a reply belongs. Replies of Redis do not show it: clients count them, and a
 * client that has lost count gives every later command the reply to another one.
 */
public final class LuaScript extends DefaultRedisScript<String> {

    private static final String CONSTANTS =
            "local FORMAT, CLAIM_LEASE, TOKENS_PER_GRANT, TOKENS_PER_PERMIT = '%d', %d, %d, %d\n"
                    .formatted(
                            LockStore.FORMAT,
                            LockStore.CLAIM_LEASE_MILLIS,
                            LockStore.TOKENS_PER_GRANT,
                            LockStore.TOKENS_PER_PERMIT);
    public static final LuaScript ACQUIRE = of("acquire.lua");
    public static final LuaScript UNLOCK = of("unlock.lua");
    public static final LuaScript RENEW = of("renew.lua");
    public static final LuaScript SHOW = of("show.lua");
    public static final LuaScript PUBLISH = of("publish.lua");
    public static final LuaScript FENCE = of("fence.lua");

    /**
     * A process uses each number once. The first is random, because processes may share a connection through a proxy.
     */
    private static final AtomicLong LAST_NUMBER =
            new AtomicLong(ThreadLocalRandom.current().nextLong(1_000_000_000_000L, 5_000_000_000_000L));

    /** Kept here, because the superclass would lock for it. */
    private final String sha1;

    /**
     * Puts the number before the reply, wherever the script returns, but not before an error.
     *
     * @param usualCase runs first, and if it answers, it adds the number itself, because a function call would double
     *     its time
     */
    private LuaScript(String usualCase, String script) {
        super(CONSTANTS + usualCase + """
                local function run()
                %s
                end
                local reply = run()
                return type(reply) == 'string' and ARGV[#ARGV] .. ' ' .. reply or reply
                """.formatted(script), String.class);
        this.sha1 = super.getSha1();
    }

    private static LuaScript of(String file) {
        String script = read(file);
        return new LuaScript(before(script, "-- first:"), before(script, "-- then:") + script);
    }

    /** The files that a script names in its header, one after the other. */
    private static String before(String script, String title) {
        return script.lines()
                .filter(line -> line.startsWith(title))
                .flatMap(
                        line -> Stream.of(line.substring(title.length()).strip().split(", ")))
                .map(name -> read(name + ".lua"))
                .collect(Collectors.joining());
    }

    private static String read(String file) {
        try {
            return new ClassPathResource("/io/github/lockboot/redis/" + file, LuaScript.class)
                    .getContentAsString(StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException("script " + file + " cannot be read from the jar", e);
        }
    }

    @Override
    public String getSha1() {
        return sha1;
    }

    /** {@return the digits of a new number; all numbers have the same length} */
    public static byte[] nextNumber() {
        return Long.toString(LAST_NUMBER.incrementAndGet()).getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * {@return the reply without its number}
     *
     * @throws ForeignReplyException if the reply has another number
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

    /** A command got the reply to another one. The command may have run. */
    public static final class ForeignReplyException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        public ForeignReplyException() {
            super("the reply of Redis belongs to another command");
        }
    }
}
