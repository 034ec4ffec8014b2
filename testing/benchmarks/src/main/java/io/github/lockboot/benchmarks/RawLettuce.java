package io.github.lockboot.benchmarks;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import io.github.lockboot.harness.Contender;
import io.github.lockboot.harness.PlainLock;
import io.github.lockboot.harness.RedisAddress;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.protocol.CommandArgs;

/**
 * The lock written by hand: SET NX PX, compare-and-delete, one shared connection. Where nobody competes this is the
 * floor, two round trips; where somebody does, it asks again every millisecond.
 */
final class RawLettuce implements Contender {

    /** How the comparison and the deletion are one step. */
    enum Release {
        SCRIPT,
        /** {@code DELEX key IFEQ value} of Redis from 8.4, or {@code DELIFEQ key value} of Valkey from 9.0. */
        COMMAND
    }

    private static final String COMPARE_AND_DELETE =
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
    private static final SetArgs IF_ABSENT = SetArgs.Builder.nx().px(Duration.ofSeconds(30));
    private static final long PAUSE_NANOS = 1_000_000;

    private final Release release;

    RawLettuce(Release release) {
        this.release = release;
    }

    @Override
    public String name() {
        return release == Release.SCRIPT ? "raw Lettuce" : "raw Lettuce, native release";
    }

    @Override
    public String key(String lock) {
        return "raw:" + lock;
    }

    @Override
    public String settings() {
        return "a lease of 30 s; where another holds the lock, SET again after " + PAUSE_NANOS / 1_000 + " us";
    }

    @Override
    public Client connect(RedisAddress redis) {
        RedisClient client = RedisClient.create("redis://" + redis.nodes().get(0));
        StatefulRedisConnection<String, String> connection = client.connect();
        Deletion deletion = release == Release.SCRIPT ? byScript(connection) : byCommand(connection);
        String session = UUID.randomUUID().toString();
        AtomicLong sequence = new AtomicLong();
        return new Client() {

            @Override
            public Lock lock(String name) {
                return new RawLock(connection.async(), deletion, key(name), session, sequence);
            }

            @Override
            public void close() {
                client.shutdown();
            }
        };
    }

    /** Deletes a key if it has this value, and answers how many keys it deleted. */
    private interface Deletion {

        CompletionStage<Long> of(String key, String value);
    }

    private static Deletion byScript(StatefulRedisConnection<String, String> connection) {
        String sha = connection.sync().scriptLoad(COMPARE_AND_DELETE);
        return (key, value) -> connection.async().evalsha(sha, ScriptOutputType.INTEGER, new String[] {key}, value);
    }

    private static Deletion byCommand(StatefulRedisConnection<String, String> connection) {
        Deletion delex =
                (key, value) -> send(connection, "DELEX", args(key).add("IFEQ").addValue(value));
        Deletion delifeq = (key, value) -> send(connection, "DELIFEQ", args(key).addValue(value));
        return Stream.of(delex, delifeq)
                .filter(deletion -> deletion.of("raw:none", "none")
                        .handle((deleted, refused) -> refused == null)
                        .toCompletableFuture()
                        .join())
                .findFirst()
                .orElseThrow(() -> new UnsupportedOperationException("the server has neither DELEX nor DELIFEQ"));
    }

    private static CommandArgs<String, String> args(String key) {
        return new CommandArgs<>(StringCodec.UTF8).addKey(key);
    }

    private static CompletionStage<Long> send(
            StatefulRedisConnection<String, String> connection, String command, CommandArgs<String, String> args) {
        return connection.async().dispatch(new Keyword(command), new IntegerOutput<>(StringCodec.UTF8), args);
    }

    private static final class RawLock extends PlainLock {

        private final RedisAsyncCommands<String, String> redis;
        private final Deletion deletion;
        private final String key;
        private final String session;
        private final AtomicLong sequence;
        private String id = "";

        RawLock(
                RedisAsyncCommands<String, String> redis,
                Deletion deletion,
                String key,
                String session,
                AtomicLong sequence) {
            this.redis = redis;
            this.deletion = deletion;
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
            Long deleted = deletion.of(key, id).toCompletableFuture().join();
            if (!Long.valueOf(1).equals(deleted)) {
                throw new IllegalMonitorStateException(key);
            }
        }
    }
}
