package io.github.lockboot.benchmarks;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.redis.protocol.LuaScript;

/** Calls of the scripts on one connection, each as of an instance that waits for exclusive locks. */
final class ScriptCalls {

    private static final String TTL = "600000";
    private static final String PATIENCE = "3600000";
    private static final int MAX_WAITERS = 1_000_000;
    private static final int MAX_HOLDERS = 200;

    private final RedisProbe redis;
    private final String acquire;
    private final String unlock;

    ScriptCalls(RedisProbe redis) {
        this.redis = redis;
        this.acquire = load(LuaScript.ACQUIRE);
        this.unlock = load(LuaScript.UNLOCK);
    }

    private String load(LuaScript script) {
        return String.valueOf(redis.command("SCRIPT", "LOAD", script.getScriptAsString()));
    }

    /** {@return 128 random bits} */
    static String session() {
        return hex() + hex();
    }

    static String id(String session) {
        return session + "-" + ThreadLocalRandom.current().nextInt(10_000) + "." + hex();
    }

    private static String hex() {
        return HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    }

    /**
     * Takes the lock, or is queued.
     *
     * @param poll how often waiters ask, ms
     */
    String acquire(String key, String id, String poll) {
        return acquire(key, id, poll, MAX_WAITERS);
    }

    /** As {@link #acquire(String, String, String)}, unless so many wait already. */
    String acquire(String key, String id, String poll, int maxWaiters) {
        return run(acquire, key, id, poll, maxWaiters, TTL, "0", "1");
    }

    String unlock(String key, String id, String poll) {
        return run(unlock, key, id, poll, MAX_WAITERS, "0");
    }

    /** Ends the hold, and queues the next id of the same instance. */
    String unlock(String key, String id, String poll, String next) {
        return run(unlock, key, id, poll, MAX_WAITERS, "0", next, TTL, "0");
    }

    /** What the server has used so far. */
    static double processorSeconds(RedisProbe redis) {
        Map<String, String> cpu = redis.info("cpu");
        return Double.parseDouble(cpu.get("used_cpu_user")) + Double.parseDouble(cpu.get("used_cpu_sys"));
    }

    /** The command by which {@link #acquire(String, String, String)} asks. */
    List<String> acquireCommand(String key, String id, String poll) {
        return words(acquire, key, id, poll, MAX_WAITERS, TTL, "0", "1");
    }

    /** The command by which {@link #unlock(String, String, String)} asks. */
    List<String> unlockCommand(String key, String id, String poll) {
        return words(unlock, key, id, poll, MAX_WAITERS, "0");
    }

    private String run(String sha, String key, String id, String poll, int maxWaiters, String... others) {
        List<String> words = words(sha, key, id, poll, maxWaiters, others);
        return String.valueOf(redis.command(words.toArray(String[]::new)));
    }

    private static List<String> words(
            String sha, String key, String id, String poll, int maxWaiters, String... others) {
        String settings = poll + " " + PATIENCE + " " + maxWaiters + " " + MAX_HOLDERS + " lock:client:";
        List<String> words = new ArrayList<>(List.of("EVALSHA", sha, "1", key, id, settings));
        words.addAll(List.of(others));
        words.add(new String(LuaScript.nextNumber(), StandardCharsets.US_ASCII));
        return words;
    }
}
