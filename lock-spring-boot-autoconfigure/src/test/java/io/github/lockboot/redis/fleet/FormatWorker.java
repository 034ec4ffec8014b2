package io.github.lockboot.redis.fleet;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.ThreadLocalRandom;

import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.TestRegistries;
import org.springframework.data.redis.connection.RedisConnection;

/**
 * An instance of an application: takes a lock again and again until the test writes to its input. Counts in Redis who is inside, and notes
 * each token. At the end says {@code turns N overlaps N losses N}.
 */
public final class FormatWorker {

    static final String NAME = "fleet";
    static final String TOKENS = "tokens";
    private static final byte[] INSIDE = bytes("inside");

    private FormatWorker() {}

    /** @param args host, port */
    public static void main(String[] args) throws Exception {
        try (TestRegistries registries = TestRegistries.at(args[0], Integer.parseInt(args[1]));
                RedisConnection redis = registries.connectionFactory().getConnection()) {
            RedisLockRegistry registry = registries.connected();
            int turns = 0;
            int overlaps = 0;
            int losses = 0;
            System.out.println("ready");
            while (System.in.available() == 0) {
                try (Lease lease = registry.acquire(NAME)) {
                    overlaps += redis.stringCommands().incr(INSIDE) == 1 ? 0 : 1;
                    redis.listCommands().rPush(bytes(TOKENS), bytes(Long.toString(lease.fencingToken())));
                    redis.stringCommands().decr(INSIDE);
                } catch (LockLostException lost) {
                    losses++;
                }
                turns++;
                Thread.sleep(ThreadLocalRandom.current().nextInt(40));
            }
            System.out.println("turns " + turns + " overlaps " + overlaps + " losses " + losses);
        }
        System.exit(0);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
