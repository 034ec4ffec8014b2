package io.github.lockboot.redis.protocol;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

import org.springframework.data.redis.core.script.RedisScript;

/**
 * One of our scripts, read once. A reply is one line: the number of the command, which is its last argument, a status word, then
 * numbers.
 */
public final class LuaScript implements RedisScript<String> {

    /** The longest lease that comes with a pushed grant. */
    public static final long CLAIM_LEASE_MILLIS = 6_000;

    /** So many tokens belong to one grant, its own included. */
    public static final long TOKENS_PER_GRANT = 65_536;

    private static final String FOLDER = "/io/github/lockboot/redis/";

    private static final String COMMON =
            "local CLAIM_LEASE, TOKENS_PER_GRANT = %d, %d\n".formatted(CLAIM_LEASE_MILLIS, TOKENS_PER_GRANT)
                    + read("common.lua");

    public static final LuaScript ACQUIRE =
            numbered(read("acquire-free.lua"), read("acquire-queued.lua") + COMMON + read("acquire.lua"));
    public static final LuaScript UNLOCK = numbered(read("unlock-last.lua"), COMMON + read("unlock.lua"));
    public static final LuaScript RENEW = numbered("", COMMON + read("renew.lua"));
    public static final LuaScript CANCEL = numbered("", COMMON + read("cancel.lua"));
    public static final LuaScript COMPLETE = numbered("", COMMON + read("complete.lua"));
    public static final LuaScript INSPECT = numbered("", COMMON + read("inspect.lua"));
    public static final LuaScript ECHO = numbered("", read("echo.lua"));
    public static final LuaScript FENCE = numbered("", read("fence.lua"));

    private final String text;
    private final String sha1;

    /**
     * However the script ends, its reply begins with the number; an error stays as it is.
     *
     * @param usualCase comes first and sees to that itself: this way would cost it as much again as what it adds
     */
    private static LuaScript numbered(String usualCase, String text) {
        return new LuaScript(usualCase + """
                local function run()
                %s
                end
                local reply = run()
                return type(reply) == 'string' and ARGV[#ARGV] .. ' ' .. reply or reply
                """.formatted(text));
    }

    private LuaScript(String text) {
        this.text = text;
        this.sha1 = sha1Of(text);
    }

    @Override
    public String getSha1() {
        return sha1;
    }

    @Override
    public Class<String> getResultType() {
        return String.class;
    }

    @Override
    public String getScriptAsString() {
        return text;
    }

    private static String read(String resource) {
        try (InputStream in = LuaScript.class.getResourceAsStream(FOLDER + resource)) {
            if (in == null) {
                throw new IllegalStateException("script " + resource + " is missing from the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException("script " + resource + " cannot be read", e);
        }
    }

    private static String sha1Of(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
