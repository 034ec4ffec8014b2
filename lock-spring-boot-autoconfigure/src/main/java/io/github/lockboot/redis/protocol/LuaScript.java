package io.github.lockboot.redis.protocol;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.core.script.DigestUtils;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * A script of this library. Its last argument is the number of the command. Its reply is one line: that number, a status word,
 * then numbers.
 */
public final class LuaScript implements RedisScript<String> {

    private static final String FOLDER = "/io/github/lockboot/redis/";

    private static final String COMMON = "local CLAIM_LEASE, TOKENS_PER_GRANT = %d, %d\n"
                    .formatted(LockStore.CLAIM_LEASE_MILLIS, LockStore.TOKENS_PER_GRANT)
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
     * Puts the number before the reply, wherever the script returns; an error stays as it is.
     *
     * @param usualCase runs first and puts the number there itself, because a function call would double its time
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
        this.sha1 = DigestUtils.sha1DigestAsHex(text);
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
        try {
            return new ClassPathResource(FOLDER + resource, LuaScript.class).getContentAsString(StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException("script " + resource + " cannot be read from the jar", e);
        }
    }
}
