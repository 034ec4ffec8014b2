package io.github.lockboot.spec;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockboot.redis.protocol.LuaScript;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Runs scripts in an order in which no engine sends them, but in which a network may deliver them: late, twice, for an
 * id that has ended or has been granted the lock again. A few ids are used by all; the ttl and kind of each are always
 * the same. Some ids never ask for the lock, and are given the holds of others.
 */
final class StrayCalls {

    /** The names of the locks begin with it. */
    static final String NAME = "stray";

    private static final String SETTINGS = "300 900 100 200 1 lock:client:";
    private static final int[] KINDS = {0, 0, -1, -1, 2, 3};
    private static final int EXCLUSIVE_IDS = 2;
    private static final int IDS = KINDS.length + 2;

    /** Of 112 calls. */
    private static final int DOWNGRADES = 20;

    /** By key and id, as far as a reply has told it. */
    private final Map<String, Long> fences = new ConcurrentHashMap<>();

    /**
     * By key, whom a reply has told last that it has the lock. Half of the calls are its own, or few would meet a hold.
     */
    private final Map<String, Integer> granted = new ConcurrentHashMap<>();

    private final StringRedisTemplate redis;

    StrayCalls(StringRedisTemplate redis) {
        this.redis = redis;
    }

    void call(String key, Random random) {
        int dice = random.nextInt(112);
        int ids = dice < DOWNGRADES ? EXCLUSIVE_IDS : dice < 60 ? KINDS.length : IDS;
        int newest = granted.getOrDefault(key, IDS);
        int who = newest < ids && random.nextBoolean() ? newest : random.nextInt(ids);
        String id = id(who);
        long fence = fences.getOrDefault(key + id, 0L);
        long last = fence == 0 ? 0 : fence + random.nextInt(3);
        if (dice < DOWNGRADES) {
            run(LuaScript.ACQUIRE, key, who, ttl(who), -1, 0, id, fence, last);
        } else if (dice < 60) {
            run(LuaScript.ACQUIRE, key, who, ttl(who), KINDS[who], dice < 56 ? 1 : 0);
        } else if (dice < 68) {
            run(LuaScript.UNLOCK, key, who, last);
        } else if (dice < 80) {
            int next = (who + 1 + random.nextInt(KINDS.length - 1)) % KINDS.length;
            run(LuaScript.UNLOCK, key, who, last, id(next), ttl(next), KINDS[next]);
        } else if (dice < 87) {
            run(LuaScript.RENEW, key, who, fence, ttl(who));
        } else if (dice < 92) {
            int other = IDS - 1 - who;
            long otherFence = fences.getOrDefault(key + id(other), 0L);
            run(LuaScript.RENEW, key, who, fence, ttl(who), id(other), otherFence, ttl(other));
        } else if (dice < 104) {
            int to = KINDS.length + random.nextInt(IDS - KINDS.length);
            run(LuaScript.ACQUIRE, key, to, ttl(to), 0, 0, id, fence, last);
        } else {
            run(LuaScript.UNLOCK, key, who, 0);
        }
    }

    private static String id(int who) {
        return "stray-" + who + ".x";
    }

    private static int ttl(int who) {
        return 50 << who % KINDS.length; // up to 1.6 s
    }

    private void run(LuaScript script, String key, int who, Object... others) {
        Object[] arguments = new Object[others.length + 3];
        Arrays.setAll(
                arguments,
                i -> i == 0 ? id(who) : i == 1 ? SETTINGS : i < arguments.length - 1 ? "" + others[i - 2] : "1");
        String reply = redis.execute(script, List.of(key), arguments);
        String[] words = reply.split(" ");
        if (words[1].equals("GRANTED") && script == LuaScript.ACQUIRE) {
            fences.put(key + id(who), Long.valueOf(words[2]));
            granted.put(key, who);
        }
    }
}
