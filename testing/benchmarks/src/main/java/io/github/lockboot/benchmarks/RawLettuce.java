package io.github.lockboot.benchmarks;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;

import io.github.lockboot.harness.Contender;
import io.github.lockboot.harness.PlainLock;
import io.github.lockboot.harness.RedisAddress;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;

/**
 * The lock written by hand: SET NX PX, compare-and-delete, one shared connection. Where nobody competes this is the floor, two
 * round trips; where somebody does, it asks again every millisecond.
 */
final class RawLettuce implements Contender {

    private static final String COMPARE_AND_DELETE =
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
    private static final SetArgs IF_ABSENT = SetArgs.Builder.nx().px(Duration.ofSeconds(30));
    private static final long PAUSE_NANOS = 1_000_000;

    @Override
    public String name() {
        return "raw Lettuce";
    }

    @Override
    public String key(String lock) {
        return "raw:" + lock;
    }

    @Override
    public Client connect(RedisAddress redis) {
        RedisClient client = RedisClient.create("redis://" + redis.nodes().get(0));
        StatefulRedisConnection<String, String> connection = client.connect();
        String sha = connection.sync().scriptLoad(COMPARE_AND_DELETE);
        String session = UUID.randomUUID().toString();
        AtomicLong sequence = new AtomicLong();
        return new Client() {

            @Override
            public Lock lock(String name) {
                return new RawLock(connection.async(), sha, key(name), session, sequence);
            }

            @Override
            public void close() {
                client.shutdown();
            }
        };
    }

    private static final class RawLock extends PlainLock {

        private final RedisAsyncCommands<String, String> redis;
        private final String sha;
        private final String key;
        private final String session;
        private final AtomicLong sequence;
        private String id = "";

        RawLock(RedisAsyncCommands<String, String> redis, String sha, String key, String session, AtomicLong sequence) {
            this.redis = redis;
            this.sha = sha;
            this.key = key;
            this.session = session;
            this.sequence = sequence;
        }

        @Override
        public void lock() {
            id = session + '-' + sequence.incrementAndGet();
            while (!"OK"
                    .equals(redis.set(key, id, IF_ABSENT).toCompletableFuture().join())) {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }

        @Override
        public void unlock() {
            String[] keys = {key};
            Object deleted = redis.evalsha(sha, ScriptOutputType.INTEGER, keys, id)
                    .toCompletableFuture()
                    .join();
            if (!Long.valueOf(1).equals(deleted)) {
                throw new IllegalMonitorStateException(key);
            }
        }
    }
}
